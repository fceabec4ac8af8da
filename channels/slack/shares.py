"""The content of a Slack message besides its typed text: shared messages, tables, previews; pure.

Source: docs.slack.dev, reference/messaging/attachments, and the shapes in which its client sends shared messages
(`is_share`, `message_blocks`, `files`) and pasted tables (an attachment of blocks alone).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from channels.fields import text_at
from channels.slack.blocks import block_words, words_beyond
from channels.slack.payload_fields import objects_at
from channels.slack.text import typed_text
from core.json_types import JsonObject, objects_in
from core.messaging.pointed import Whose

_SHARED = ("is_share", "is_msg_unfurl", "is_reply_unfurl", "message_blocks")
_NAMED = (
    "author_id",
    "author_name",
    "pretext",
    "title",
    "text",
    "service_name",
    "from_url",
    "original_url",
    "image_url",
)
_PREVIEW = ("from_url", "original_url")
_PLACEHOLDERS = frozenset({"[no preview available]", "this content can't be displayed."})
"""Slack's placeholders for missing words."""


@dataclass(frozen=True, slots=True)
class Authors:
    """Known authors of a shared message: the person, by their user's id, and we."""

    person: str
    bot_user: str
    bot_id: str | None


def own_words(record: JsonObject) -> str:
    """Return the person's own words: the text, and the words in blocks alone, such as a table."""
    said = _told(text_at(record, "text"))
    tables = [item for item in objects_at(record, "attachments") if _is_typed(item)]
    blocks = [
        *objects_in(record.get("blocks")),
        *(block for item in tables for block in objects_in(item.get("blocks"))),
    ]
    return _with_blocks(said, blocks)


def quoted_in(record: JsonObject) -> list[JsonObject]:
    """Return the quotes of a message without words of its own; previews of links only if there is nothing else."""
    quoted = [item for item in objects_at(record, "attachments") if not _is_typed(item)]
    return [item for item in quoted if not _is_preview(item)] or quoted


def besides(record: JsonObject) -> list[JsonObject]:
    """Return the parts of a message that come with its words and were not typed, without previews of its links."""
    return [item for item in objects_at(record, "attachments") if not (_is_typed(item) or _is_preview(item))]


def words_of(item: JsonObject) -> str:
    """Return the words of an attachment; empty if Slack only reports that it has none."""
    said = "\n".join(words for name in ("pretext", "title", "text") if (words := _told(text_at(item, name))))
    said = _with_blocks(said, [block for message in messages_in(item) for block in objects_in(message.get("blocks"))])
    fields = [
        (_told(text_at(field, "title")), _told(text_at(field, "value"))) for field in objects_in(item.get("fields"))
    ]
    lines = [said, *(": ".join(part for part in field if part) for field in fields)]
    return "\n".join(line for line in lines if line.strip()) or _told(text_at(item, "fallback"))


def messages_in(item: JsonObject) -> Iterator[JsonObject]:
    """Yield an attachment and the messages in it, which have its blocks and files."""
    yield item
    for held in objects_in(item.get("message_blocks")):
        message = held.get("message")
        if isinstance(message, dict):
            yield message


def whose(item: JsonObject, authors: Authors) -> Whose:
    """Return the author of an attachment's words: a third party, unless it names the person or us."""
    author = text_at(item, "author_id")
    if not any(item.get(name) for name in _SHARED) or not author:
        return Whose.OTHERS
    if author == authors.bot_user or (authors.bot_id and item.get("bot_id") == authors.bot_id):
        return Whose.ASSISTANT
    return Whose.OWN if author == authors.person else Whose.OTHERS


def _is_typed(item: JsonObject) -> bool:
    """Return whether an attachment is part of the typed text: nothing but blocks, such as a pasted table."""
    return bool(item.get("blocks")) and not any(item.get(name) for name in (*_SHARED, *_NAMED))


def _is_preview(item: JsonObject) -> bool:
    """Return whether it shows the page of a link in the text."""
    return any(item.get(name) for name in _PREVIEW) and not any(item.get(name) for name in _SHARED)


def _with_blocks(said: str, blocks: list[JsonObject]) -> str:
    if not said.strip():
        return block_words([*blocks]) or said
    more = words_beyond(said, [*blocks])
    return f"{said}\n\n{more}" if more else said


def _told(escaped: str) -> str:
    typed = typed_text(escaped)
    return "" if typed.strip().casefold() in _PLACEHOLDERS else typed
