"""The tool by which the assistant answers for itself."""

import json
from datetime import date
from zoneinfo import ZoneInfo

from abilities.receipts.store import Receipts
from abilities.receipts.types import Days, Receipt
from abilities.receipts.wording import title_of
from onevalet import ToolExecutionContext, ToolGroup, ToolRetry, gettext_noop, tool

_GROUP = ToolGroup("receipts", gettext_noop("receipt, receipts, in my name, on my behalf, did you do, have you done"))
_MOST = 50
_MAX_ANSWER = 200


@tool(name="list_receipts", effect="read", outside=True, group=_GROUP)
async def list_receipts(first_day: str, last_day: str, context: ToolExecutionContext) -> str:
    """List the acts in the person's name on some days, with the consent behind each, the newest first.

    It is the record of what was really done: go by it, not by what was said.

    Args:
        first_day: The first day, as YYYY-MM-DD.
        last_day: The last day, as YYYY-MM-DD.
    """
    try:
        days = Days(date.fromisoformat(first_day), date.fromisoformat(last_day))
    except ValueError as error:
        raise ToolRetry("A day is written as YYYY-MM-DD.") from error
    if days.last < days.first or days.first.year < 2:
        raise ToolRetry("The last day is not before the first.")
    zone = ZoneInfo(context.timezone)
    reader = context.service(Receipts).reader(zone)
    counts, newest = await reader.count(days), await reader.newest(days, _MOST)
    told = {
        "in_all": counts.receipts,
        "without_a_card": counts.without_card,
        "outcome_unknown": counts.unknown,
        "newest": [_as_json(receipt, zone) for receipt in newest],
        "more": "Each card and a file to check are in the console, under Receipts.",
    }
    return json.dumps(told, ensure_ascii=False)


def _as_json(receipt: Receipt, zone: ZoneInfo) -> dict[str, str]:
    card, consent = receipt.card, receipt.consent
    told = {
        "receipt": receipt.number,
        "at": receipt.at.astimezone(zone).strftime("%Y-%m-%d %H:%M"),
        "tool": receipt.tool,
        "what": title_of(receipt),
        "consent": "none: this tool needs no approval",
        "outcome": receipt.outcome.value,
        "answer": receipt.answer[:_MAX_ANSWER],
    }
    if consent is not None:
        told["consent"] = f"standing consent {consent.number}, use {consent.use}, without a card"
    if card is not None:
        told["consent"] = f"card {card.code}, approved on {card.decided_on} by {card.how}"
    return told
