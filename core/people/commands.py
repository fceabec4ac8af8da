"""The commands /link, /unlink, /prefs and /profile, answered without a model."""

from datetime import datetime

from core.language.catalogue import gettext, gettext_noop
from core.messaging.chat_words import CommandAnswer, CommandUndo
from core.messaging.messages import Command
from core.people.chat_words import preference_of
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

    async def answer(self, command: Command, tenant_id: str, turn_id: str, channel: str) -> CommandAnswer | None:
        """Answer a command; None when it is not one of these. The same turn may repeat it without effect."""
        now = self._clock.now()
        match command.name:
            case "link" if command.argument:
                return await self._redeem(command.argument, tenant_id, turn_id, now)
            case "link":
                return await self._give(tenant_id, turn_id, channel, now)
            case "unlink":
                unlinked = await self._linking.unlink(tenant_id, turn_id, gettext(UNLINKED), now)
                if not unlinked.done:
                    return CommandAnswer(gettext(ALONE))
                return CommandAnswer(unlinked.text, reason="" if unlinked.text else "unlinked", queued=unlinked.queued)
            case "prefs":
                return await self._prefer(command.argument, tenant_id, turn_id, channel)
            case "profile":
                return await self._profile(command.argument, tenant_id, turn_id, channel)
        return None

    async def _give(self, tenant_id: str, turn_id: str, channel: str, now: datetime) -> CommandAnswer:
        code = await self._linking.give_code(tenant_id, turn_id, now)
        if not code:
            return CommandAnswer(gettext("You have asked for many codes today; try again tomorrow."))
        return CommandAnswer(
            gettext(
                "To link another channel to this one, write to me there within ten minutes: LINK {code}\n"
                "Anybody who writes from there can then read all that I keep for you, and I act for them as I do for "
                "you. Give the code to nobody else.",
                code=shown_code(code),
            )
        )

    async def _redeem(self, argument: str, tenant_id: str, turn_id: str, now: datetime) -> CommandAnswer:
        code, agreed = read_code(argument)
        link = await self._linking.redeem(tenant_id, turn_id, code, agreed=agreed, now=now)
        return CommandAnswer(_sentence(link, code), queued=link.told)

    async def _prefer(self, argument: str, tenant_id: str, turn_id: str, channel: str) -> CommandAnswer:
        name, value = preference_of(argument)
        if not name:
            how = dict.fromkeys(("sms", "email"), "PREFS timezone Lisbon") | {"slack": "/valet prefs timezone Lisbon"}
            example = how.get(channel, "/prefs timezone Lisbon")
            change = gettext("To change one, tell me, or write for example: {example}", example=example)
            return CommandAnswer(f"{written(await self._preferences.read(tenant_id))}\n{change}")
        try:
            changed = await change_preference(self._preferences, tenant_id, name, value, turn_id, f"{turn_id}/command")
        except PreferenceRefused as error:
            return CommandAnswer(str(error))
        undo = CommandUndo(changed.title, TAKE_BACK_PREFERENCE, changed.to_json()) if changed.differs else None
        return CommandAnswer(changed.text, undo=undo)

    async def _profile(self, argument: str, tenant_id: str, turn_id: str, channel: str) -> CommandAnswer:
        person = self._people.for_turn(tenant_id, turn_id)
        match argument.lower().split():
            case ["undo", number] if number.isdecimal() and len(number) < 10:
                gone = await person.unlearn(int(number), f"{turn_id}/command")
                title = gettext("Taken back: {fact}", fact=gone.fact)
                undo = CommandUndo(title, RESTORE_FACT, {"number": int(number)}) if gone.fact else None
                return CommandAnswer(gone.text, undo=undo)
        word = dict.fromkeys(("sms", "email"), "PROFILE undo 3") | {"slack": "/valet profile undo 3"}
        how = word.get(channel, "/profile undo 3")
        facts = await person.profile()
        take_back = gettext("To take one back, tell me, or write for example: {example}", example=how)
        return CommandAnswer(f"{facts}\n{take_back}" if "\n" in facts else facts)


def _sentence(link: Link, code: str) -> str:
    match link.outcome:
        case LinkOutcome.LINKED:
            return linked_with(link.places)
        case LinkOutcome.ASK:
            there, here = count_in_words(link.counts, 0), count_in_words(link.counts, 1)
            more = gettext("What both have becomes one person's: {there} there, {here} here.", there=there, here=here)
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
