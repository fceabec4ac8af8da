"""The rules for a message: reference/methods/chat.postMessage and messaging/message-metadata."""

import json
from dataclasses import dataclass, field

from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.blocks import Surface, block_problems, text_length
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.shapes import Obj, decoded, obj, text

TRUNCATED = "message_truncated"


@dataclass(slots=True)
class Content:
    """A message's content as Slack keeps it. `given` names the arguments that were there."""

    text: str = ""
    markdown: str = ""
    blocks: list[Json] = field(default_factory=list)
    metadata: Obj = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    warnings: list[str] = field(default_factory=list)


def check_content(arguments: Obj, *, update: bool = False) -> Content:
    """Read text, blocks, markdown_text and metadata, or refuse them as chat.postMessage would."""
    names = ("text", "blocks", "markdown_text", "metadata", "attachments")
    given = frozenset(name for name in names if arguments.get(name) not in (None, ""))
    content = Content(given=given)
    # methods/chat.postMessage, error markdown_text_conflict.
    if "markdown_text" in given and given & {"text", "blocks"}:
        raise Refusal("markdown_text_conflict")
    content.text = text(arguments.get("text"))
    # methods/chat.update, error msg_too_long; chat.postMessage truncates instead.
    if update and len(content.text) > limits.UPDATE_TEXT:
        raise Refusal("msg_too_long")
    if len(content.text) > limits.TEXT_TRUNCATED_AT:
        content.text = content.text[: limits.TEXT_TRUNCATED_AT]
        content.warnings.append(TRUNCATED)
    content.markdown = check_markdown(arguments)
    if "blocks" in given:
        content.blocks = check_message_blocks(arguments["blocks"])
    content.metadata = check_metadata(arguments)
    # methods/chat.postMessage, error no_text: whitespace alone is none.
    nothing = not (content.text.strip() or content.markdown.strip() or content.blocks)
    if nothing and "attachments" not in given and not (update and "metadata" in given):
        raise Refusal("no_text")
    return content


def check_markdown(arguments: Obj) -> str:
    """Read markdown_text: at most 12,000 characters (methods/chat.postMessage)."""
    value = text(arguments.get("markdown_text"))
    if len(value) > limits.MARKDOWN_TEXT:
        raise Refusal("msg_too_long")
    return value


def check_message_blocks(value: Json) -> list[Json]:
    """Read blocks: JSON (else invalid_blocks_format), valid (invalid_blocks), not too long in all."""
    try:
        blocks = decoded(value)
    except ValueError:
        raise Refusal("invalid_blocks_format") from None
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise Refusal("invalid_blocks_format")
    # github.com/slackapi/bolt-js/issues/2509: each block within its limit, the sum too long.
    if problems := block_problems(blocks, Surface.MESSAGE):
        raise Refusal("invalid_blocks", problems)
    if text_length(blocks) > limits.ALL_BLOCKS:
        raise Refusal("msg_blocks_too_long")
    return blocks


def check_metadata(arguments: Obj) -> Obj:
    """Read metadata: an object with event_type and event_payload (messaging/message-metadata)."""
    value = arguments.get("metadata")
    if value in (None, ""):
        return {}
    try:
        metadata = obj(decoded(value))
    except ValueError:
        raise Refusal("invalid_metadata_format") from None
    if not text(metadata.get("event_type")) or not isinstance(metadata.get("event_payload"), dict):
        raise Refusal("invalid_metadata_format")
    if len(json.dumps(metadata).encode()) > limits.METADATA_BYTES:
        raise Refusal("metadata_too_large")
    return metadata
