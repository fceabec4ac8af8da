"""Answers to the word for the household, without a model."""

from collections.abc import Awaitable, Callable, Mapping

from abilities.household import sentences
from abilities.household.chat_words import CALENDAR, CREATE, END, INVITE, JOIN, LEAVE, MAKE, REMOVE, Said, read_argument
from abilities.household.households import MAX_NAME, Households
from abilities.household.roles import HouseholdRole
from abilities.household.types import Outcome
from core.errors import ToolFailed
from core.messaging.chat_words import CommandAnswer
from core.people.link_codes import shown_code
from core.turns.words.asked import Asked

type _Deed = Callable[[Households, Said, str], Awaitable[str]]


async def about_household(asked: Asked) -> CommandAnswer | None:
    """Show the household, or change it by the person's word."""
    try:
        households = asked.service(Households)
    except ToolFailed:
        return None
    said, channel = read_argument(asked.command.argument), asked.turn.address.channel
    return CommandAnswer(await _DEEDS.get(said.verb, _show)(households, said, channel))


async def _show(households: Households, _: Said, channel: str) -> str:
    return sentences.overview(await households.show(channel), households.tenant_id, channel)


async def _create(households: Households, said: Said, channel: str) -> str:
    if not said.rest:
        return await _show(households, said, channel)
    if len(said.rest) > MAX_NAME:
        return sentences.long_name(MAX_NAME)
    return sentences.of_deed(await households.make(said.rest), channel)


async def _invite(households: Households, said: Said, channel: str) -> str:
    role = said.role or HouseholdRole.ADULT
    if role is HouseholdRole.OWNER:
        return sentences.of_outcome(Outcome.REFUSED, channel)
    outcome, code = await households.invite(role)
    if outcome is Outcome.LIMITED:
        return sentences.too_many_invitations()
    if outcome is not Outcome.KEPT:
        return sentences.of_outcome(outcome, channel)
    return sentences.invitation(shown_code(code), role)


async def _join(households: Households, said: Said, channel: str) -> str:
    deed = await households.join(said.rest, agreed=said.agreed)
    if deed.outcome is Outcome.ASK:
        code = shown_code("".join(filter(str.isalnum, said.rest.upper())))
        return sentences.question(deed, code, channel)
    return sentences.of_deed(deed, channel)


async def _leave(households: Households, _: Said, channel: str) -> str:
    return sentences.of_deed(await households.leave(), channel)


async def _remove(households: Households, said: Said, channel: str) -> str:
    if (member := await households.find(said.rest, channel)) is None:
        # A repeat after a crash: the deed is done, and the member is in the list no longer.
        return await _unfound(households, said, channel)
    if member.id == households.tenant_id:
        return sentences.leave_instead(channel)
    return sentences.of_deed(await households.remove(member), channel)


async def _make(households: Households, said: Said, channel: str) -> str:
    if not said.role or (member := await households.find(said.rest, channel)) is None:
        return await _unfound(households, said, channel)
    return sentences.of_deed(await households.change(member, said.role), channel)


async def _calendar(households: Households, said: Said, channel: str) -> str:
    if said.calendar is None:
        return await _show(households, said, channel)
    return sentences.of_deed(await households.show_calendar(said.calendar), channel)


async def _end(households: Households, said: Said, channel: str) -> str:
    deed = await households.end(agreed=said.agreed)
    return sentences.end_question(deed, channel) if deed.outcome is Outcome.ASK else sentences.of_deed(deed, channel)


async def _unfound(households: Households, said: Said, channel: str) -> str:
    """Answer about a member who is not in the household: one whom this very turn put out, or nobody."""
    if done := await households.done():
        return sentences.of_deed(done, channel)
    return sentences.unknown(said.rest, channel) if await households.read() else sentences.nobody(channel)


_DEEDS: Mapping[str, _Deed] = {
    CREATE: _create,
    INVITE: _invite,
    JOIN: _join,
    LEAVE: _leave,
    REMOVE: _remove,
    MAKE: _make,
    CALENDAR: _calendar,
    END: _end,
}
