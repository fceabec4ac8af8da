"""The sentences of follow-ups, in the person's language."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from abilities.followups.chat_words import NO, OFF, ON, YES, button, typed
from abilities.followups.followups import Choice
from abilities.followups.types import FollowUp, Outcome, State
from core.language.catalogue import gettext
from core.language.times import day_in_words, moment_in_words
from core.messaging.messages import Action
from core.messaging.visible_text import literal
from core.tools.chat_words import undo_word

_LONGEST = 200


def quoted(words: str) -> str:
    """Return a person's words for a sentence: one line, not long, without markup."""
    line = " ".join(words.split())
    return literal(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…")


def proposal(words: str, number: str, ask_at: datetime, zone: ZoneInfo) -> str:
    """Return the line of a digest that proposes a follow-up."""
    return gettext(
        "You said: “{words}”. Shall I ask you on {moment} how it went? Write {yes}, or {no}. To stop such "
        "questions: {off}",
        words=quoted(words),
        moment=moment_in_words(ask_at, zone),
        yes=typed(YES, number),
        no=typed(NO, number),
        off=typed(OFF),
    )


def buttons(number: str) -> tuple[Action, ...]:
    """Return the buttons below a proposal."""
    return (
        button(gettext("Yes, ask me"), YES, number),
        button(gettext("No, thanks"), NO, number),
        button(gettext("No more of these"), OFF),
    )


def question(words: str, said_at: datetime, zone: ZoneInfo) -> str:
    """Return the follow-up itself."""
    day = day_in_words(said_at.astimezone(zone).date())
    return gettext("On {day} you said: “{words}”. How did it go?", day=day, words=quoted(words))


def of_outcome(outcome: Outcome, followup: FollowUp, choice: Choice, zone: ZoneInfo) -> str:
    """Return the answer to a decision."""
    match outcome:
        case Outcome.KEPT:
            return gettext(
                "I will ask you on {moment} how it went: “{words}”. To take that back, write “{word}”.",
                moment=moment_in_words(followup.ask_at, zone),
                words=quoted(followup.words),
                word=undo_word(),
            )
        case Outcome.PAUSED if choice.paused_until:
            return gettext(
                "I will not ask about it. That was the third no in a row: until {day} I propose no follow-ups.",
                day=day_in_words(choice.paused_until.astimezone(zone).date()),
            )
        case Outcome.ENDED:
            return gettext("Very well: I will not ask about “{words}”.", words=quoted(followup.words))
        case Outcome.OVER:
            return gettext("That follow-up is over.")
    return gettext("I will not ask about it.")


def listed(choice: Choice, followups: Sequence[FollowUp], zone: ZoneInfo) -> str:
    """Return the proposed and kept follow-ups in words, with the words that change them."""
    if choice.is_off:
        return gettext("I propose no follow-ups. To have them again, write {on}", on=typed(ON))
    if choice.paused_until is not None:
        day = day_in_words(choice.paused_until.astimezone(zone).date())
        how = gettext(
            "Until {day} I propose no follow-ups, as you declined the last ones. To stop them for good: {off}",
            day=day,
            off=typed(OFF),
        )
    else:
        how = gettext(
            "If you mention a coming event, such as an interview, I offer to ask how it went, at most once a day. "
            "To stop that: {off}",
            off=typed(OFF),
        )
    return "\n".join([*(_line(followup, zone) for followup in followups), how])


def which(followups: Sequence[FollowUp], verb: str) -> str:
    """Return the answer to a decision that names none, or an unknown one."""
    if not followups:
        return gettext("No follow-up waits for your answer.")
    ways = "\n".join(f"- {typed(verb, str(one.number))}: “{quoted(one.words)}”" for one in followups)
    return gettext("Which one?") + f"\n{ways}"


def turned_off() -> str:
    return gettext("I no longer propose follow-ups, and ask about none. To have them again, write {on}", on=typed(ON))


def turned_on() -> str:
    return gettext("I propose follow-ups again. To stop them: {off}", off=typed(OFF))


def _line(followup: FollowUp, zone: ZoneInfo) -> str:
    moment, words = moment_in_words(followup.ask_at, zone), quoted(followup.words)
    if followup.state is State.KEPT:
        return gettext(
            "{number}. “{words}”: I will ask you on {moment}. To stop that: {no}",
            number=followup.number,
            words=words,
            moment=moment,
            no=typed(NO, str(followup.number)),
        )
    return gettext(
        "{number}. “{words}”: shall I ask you on {moment}? {yes}, or {no}",
        number=followup.number,
        words=words,
        moment=moment,
        yes=typed(YES, str(followup.number)),
        no=typed(NO, str(followup.number)),
    )
