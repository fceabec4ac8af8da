"""A sent part redrawn: its text, without closing and buttons, and the outcome beneath."""

from core.errors import Rejected
from core.json_types import Json
from core.messaging.channels import Part
from core.messaging.messages import Address
from notify.closing import without_closing
from notify.slack.markdown import defuse, line_block, literal_blocks
from providers.slack.client import SlackApi
from providers.slack.errors import FORMATTING
from providers.slack.wire import escape

MAX_FALLBACK = 4_000
"""Characters in `text` (docs.slack.dev, reference/methods/chat.update, msg_too_long)."""


async def redraw(client: SlackApi, part: Part, ts: str, to: Address, line: str) -> None:
    """Change the app's own message `ts`; changing it to the same content succeeds. Raises `DeliveryError`.

    If Slack refuses the blocks, the words are shown plainly.
    """
    text = without_closing(part)
    written: list[Json] = [{"type": "markdown", "text": defuse(text)}] if text else []
    try:
        await _update(client, text, ts, to, line, written)
    except Rejected as error:
        if error.code not in FORMATTING or not written:
            raise
        await _update(client, text, ts, to, line, literal_blocks(text))


async def _update(client: SlackApi, text: str, ts: str, to: Address, line: str, words: list[Json]) -> None:
    await client.call(
        "chat.update",
        {
            "channel": to.peer,
            "ts": ts,
            "text": escape(f"{line}\n\n{text}".strip(), MAX_FALLBACK),
            "blocks": [*words, line_block(line)],
        },
    )
