"""Answers to the word for follow-ups, without a model."""

from zoneinfo import ZoneInfo

from abilities.followups import sentences
from abilities.followups.chat_words import NO, OFF, ON, YES, read_argument
from abilities.followups.deciding import decide, undo_of
from abilities.followups.followups import FollowUps
from abilities.followups.types import Outcome, State
from core.clock import zone_or_utc
from core.errors import ToolFailed
from core.messaging.chat_words import CommandAnswer
from core.turns.words.asked import Asked


async def about_followups(asked: Asked) -> CommandAnswer | None:
    """List the follow-ups, or carry out the person's words about them."""
    try:
        followups = asked.service(FollowUps)
    except ToolFailed:
        return None
    zone = zone_or_utc(asked.request.tenant.timezone)
    match read_argument(asked.command.argument):
        case (verb, number) if verb in (YES, NO):
            return await _decided(followups, verb, number, zone)
        case (verb, _) if verb in (ON, OFF):
            await followups.switch(on=verb == ON)
            return CommandAnswer(sentences.turned_on() if verb == ON else sentences.turned_off())
    shown = await followups.all(State.PROPOSED, State.KEPT)
    return CommandAnswer(sentences.listed(await followups.choice(), shown, zone))


async def _decided(followups: FollowUps, verb: str, number: int | None, zone: ZoneInfo) -> CommandAnswer:
    decided = await decide(followups, number, keep=verb == YES, zone=zone)
    kept = decided.followup if decided.outcome is Outcome.KEPT else None
    return CommandAnswer(decided.text, undo=undo_of(kept) if kept else None)
