"""A sent part redrawn: its text, without buttons, and the outcome beneath."""

from core.errors import Rejected
from core.json_types import Json
from core.messaging.channels import Part
from core.messaging.messages import Address
from notify.slack.markdown import line_block, literal_blocks
from providers.slack.client import SlackApi
from providers.slack.errors import FORMATTING
from providers.slack.wire import escape

MAX_FALLBACK = 4_000
"""Characters in `text` (docs.slack.dev, reference/methods/chat.update, msg_too_long)."""


async def redraw(client: SlackApi, part: Part, ts: str, to: Address, outcome: str) -> None:
    """Change the app's own message `ts`; changing it to the same content succeeds. Raises `DeliveryError`.

    If Slack refuses the blocks, the words are shown plainly.
    """
    blocks = part.data.get("blocks")
    words = [block for block in blocks if _is_words(block)] if isinstance(blocks, list) else []
    try:
        await _update(client, part, ts, to, outcome, words or literal_blocks(part.text))
    except Rejected as error:
        if error.code not in FORMATTING or not words:
            raise
        await _update(client, part, ts, to, outcome, literal_blocks(part.text))


async def _update(client: SlackApi, part: Part, ts: str, to: Address, outcome: str, words: list[Json]) -> None:
    await client.call(
        "chat.update",
        {
            "channel": to.peer,
            "ts": ts,
            "text": escape(f"{outcome}\n\n{part.text}", MAX_FALLBACK),
            "blocks": [*words, line_block(outcome)],
        },
    )


def _is_words(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") != "actions"
