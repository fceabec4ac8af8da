"""The answer to the word about receipts."""

from abilities.receipts.period import read_days
from abilities.receipts.store import Receipts
from abilities.receipts.wording import listed
from core.clock import zone_or_utc
from core.errors import ToolFailed
from core.messaging.chat_words import CommandAnswer
from core.turns.words.asked import Asked

SHOWN = 10


async def list_receipts(asked: Asked) -> CommandAnswer | None:
    """List the newest receipts of a period; return None if the argument names none, or nobody keeps any."""
    try:
        receipts = asked.service(Receipts)
    except ToolFailed:
        return None  # an assistant inside a program need not have any
    zone = zone_or_utc(asked.request.tenant.timezone)
    days = read_days(asked.command.argument, receipts.now().astimezone(zone).date())
    if days is None:
        return None
    reader = receipts.reader(zone)
    return CommandAnswer(listed(await reader.newest(days, SHOWN), await reader.count(days), days, zone))
