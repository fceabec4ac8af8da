"""The commands /link, /unlink, /prefs and /profile, answered without a model."""

from datetime import datetime

from core.language.catalogue import gettext, gettext_noop
from core.messaging.chat_words import CommandAnswer, CommandUndo
from core.messaging.help_text import as_typed
from core.people.chat_words import PREFS, PROFILE, preference_of
from core.people.link_codes import read_code, shown_code
from core.people.link_messages import link_question, linked_with
from core.people.linking import Link, Linking, LinkOutcome, count_in_words
from core.people.people import People
from core.people.preference_changes import TAKE_BACK_PREFERENCE, change_preference
from core.people.preferences import PreferenceRefused, written
from core.people.profile import RESTORE_FACT

UNLINKED = gettext_noop("This channel stands on its own now: I know nothing about you here, and we begin afresh.")
ALONE = gettext_noop("This is the only channel on which I know you, so there is nothing to unlink.")


class PersonCommands:
    """Answer the commands of this room, each for the person of its turn."""

    def __init__(self, linking: Linking, people: People) -> None:
        self._linking = linking
        self._people = people
        self._preferences = people.preferences
        self._clock = people.clock

    async def link(self, argument: str, tenant_id: str, turn_id: str) -> CommandAnswer:
        """Link by a code, or give a new code. The same turn may repeat this, as the others, without effect."""
        now = self._clock.now()
        if not argument:
            return await self._give(tenant_id, turn_id, now)
        code, agreed = read_code(argument)
        link = await self._linking.redeem(tenant_id, turn_id, code, agreed=agreed, now=now)
        return CommandAnswer(_sentence(link, code), queued=link.told)

    async def unlink(self, tenant_id: str, turn_id: str) -> CommandAnswer:
        """Part the channel from the person's others."""
        unlinked = await self._linking.unlink(tenant_id, turn_id, gettext(UNLINKED), self._clock.now())
        if not unlinked.done:
            return CommandAnswer(gettext(ALONE))
        return CommandAnswer(unlinked.text, reason="" if unlinked.text else "unlinked", queued=unlinked.queued)

    async def _give(self, tenant_id: str, turn_id: str, now: datetime) -> CommandAnswer:
        code = await self._linking.give_code(tenant_id, turn_id, now)
        if not code:
            return CommandAnswer(gettext("You have asked for too many codes today; try again tomorrow."))
        return CommandAnswer(
            gettext(
                "To link another channel to this one, write to me there within ten minutes: LINK {code}\n"
                "Anybody who writes from there can then read all that I keep for you, and I act for them as I do for "
                "you. Give the code to nobody else.",
                code=shown_code(code),
            )
        )

    async def prefer(self, argument: str, tenant_id: str, turn_id: str, channel: str) -> CommandAnswer:
        """Set a preference, or list them all."""
        name, value = preference_of(argument)
        if not name:
            example = f"{as_typed(PREFS, channel)} timezone Lisbon"
            change = gettext("To change one, tell me, or write for example: {example}", example=example)
            return CommandAnswer(f"{written(await self._preferences.read(tenant_id))}\n{change}")
        try:
            changed = await change_preference(self._preferences, tenant_id, name, value, turn_id, f"{turn_id}/command")
        except PreferenceRefused as error:
            return CommandAnswer(str(error))
        undo = CommandUndo(changed.title, TAKE_BACK_PREFERENCE, changed.to_json()) if changed.differs else None
        return CommandAnswer(changed.text, undo=undo)

    async def profile(self, argument: str, tenant_id: str, turn_id: str, channel: str) -> CommandAnswer:
        """Delete a fact, or list them all."""
        person = self._people.for_turn(tenant_id, turn_id)
        match argument.lower().split():
            case ["undo", number] if number.isdecimal() and len(number) < 10:
                gone = await person.unlearn(int(number), f"{turn_id}/command")
                title = gettext("Taken back: {fact}", fact=gone.fact)
                undo = CommandUndo(title, RESTORE_FACT, {"number": int(number)}) if gone.fact else None
                return CommandAnswer(gone.text, undo=undo)
        facts, example = await person.profile(), f"{as_typed(PROFILE, channel)} undo 3"
        take_back = gettext("To take one back, tell me, or write for example: {example}", example=example)
        return CommandAnswer(f"{facts}\n{take_back}" if "\n" in facts else facts)


def _sentence(link: Link, code: str) -> str:
    match link.outcome:
        case LinkOutcome.LINKED:
            return linked_with(link.places)
        case LinkOutcome.ASK:
            there, here = count_in_words(link.counts, 0), count_in_words(link.counts, 1)
            more = gettext("The data of both becomes one person's: {there} there, {here} here.", there=there, here=here)
            if link.role:
                more += " " + gettext("You would be a {role} here too.", role=gettext(link.role))
            return link_question(link.places, code, more)
        case LinkOutcome.SAME:
            return gettext("You asked for this code here: write it to me on the other channel.")
        case LinkOutcome.BUSY:
            return gettext("I am answering you on the other channel just now. Please write this again in a minute.")
        case LinkOutcome.EXPIRED:
            return gettext("This code has run out. Write /link, or LINK in a text message, for a new one.")
        case LinkOutcome.USED:
            return gettext("This code was used already.")
        case LinkOutcome.WRONG:
            return gettext(
                "That code does not work. A code works once, within ten minutes: write /link in your other chat, "
                "or LINK in a text message, for a new one."
            )
        case LinkOutcome.LIMITED:
            return gettext("Too many wrong codes: try again in an hour.")
        case LinkOutcome.REFUSED:
            return link.refusal
