"""The sentences about a decision: chosen by key in the decision's own transaction, said in the person's language. Pure.

The key and the values are stored (the SQL function `about_approval`). The words are found once, when the message is
rendered for the first time or the press is answered.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from babel.dates import format_skeleton

from core.clock import zone_or_utc
from core.json_types import Json, JsonObject
from core.language.catalogue import current_locale, gettext, gettext_noop
from core.language.times import time_in_words
from core.messaging.messages import Sentence
from core.messaging.visible_text import literal


class DecisionOutcome(StrEnum):
    """The outcome of a press or an exact word, as SQL names it."""

    APPROVED = "approve"
    CANCELLED = "cancel"
    EDIT = "edit"
    DETAILS = "details"
    PENDING = "pending"
    ALREADY_APPROVED = "already_approved"
    ALREADY_CANCELLED = "already_cancelled"
    ALREADY_EXPIRED = "already_expired"
    EXPIRED = "expired"
    REPLACED = "replaced"
    AMENDED = "amended"
    NOT_BOTH = "not_both"
    OVER = "over"
    ALTERED = "altered"
    NOT_WHOLE = "not_whole"
    NOT_EDITABLE = "not_editable"
    NOT_SENT = "not_sent"
    CONFIRM = "confirm"
    WRONG_NUMBER = "wrong"
    TOO_MANY_TRIES = "too_many"
    SNOOZED = "snooze"
    TOO_LATE_TO_SNOOZE = "too_late"
    ASK_CHANGE = "ask_change"
    NEEDS_CODE = "needs_code"
    NEEDS_PRESS = "needs_press"
    SEVERAL = "several"
    TAKEN_BACK = "taken_back"
    GUESSED = "guessed"
    NOTHING = "nothing"
    NO_CODE = "no_code"
    NOT_YOURS = "not_yours"
    UNKNOWN = "unknown"
    REMINDER = "reminder"
    """No outcome of a decision, but a sentence about a decision that is due."""


class CardOutcome(StrEnum):
    """The outcome on the card of a decided approval, as SQL names it."""

    APPROVED = "approved"
    CANCELLED = "cancelled"
    REPLACED = "replaced"
    EXPIRED = "expired"
    REISSUED = "reissued"
    AMENDED = "amended"
    NOT_BOTH = "not_both"


_SENTENCES = {
    DecisionOutcome.APPROVED: gettext_noop("Approved {code}: {summary}."),
    DecisionOutcome.CANCELLED: gettext_noop("Cancelled {code}: {summary}."),
    DecisionOutcome.EDIT: gettext_noop("Thank you, I am changing {code} and will show it again."),
    DecisionOutcome.PENDING: gettext_noop("{code} is still waiting for your decision."),
    DecisionOutcome.ALREADY_APPROVED: gettext_noop("{code} was already approved {by} at {decided}."),
    DecisionOutcome.ALREADY_CANCELLED: gettext_noop("{code} was already cancelled {by} at {decided}."),
    DecisionOutcome.ALREADY_EXPIRED: gettext_noop(
        "{code} expired at {decided}, and nothing was done. Reply AGAIN {code} for a fresh card."
    ),
    DecisionOutcome.EXPIRED: gettext_noop(
        "{code} expired at {expires}, and nothing was done. Reply AGAIN {code} for a fresh card."
    ),
    DecisionOutcome.REPLACED: gettext_noop("{code} was changed at {decided}: the newer card counts."),
    DecisionOutcome.AMENDED: gettext_noop("{code} is void: you changed the message behind it. Nothing was done."),
    DecisionOutcome.NOT_BOTH: gettext_noop("{code} is over: not both of you agreed. Nothing was done."),
    DecisionOutcome.OVER: gettext_noop(
        "{code} is over: the request behind it ended, and nothing was done. Reply AGAIN {code} for a fresh card."
    ),
    DecisionOutcome.ALTERED: gettext_noop(
        "{code} is no longer what you were shown, so it cannot be approved. "
        "Reply NO {code}, or AGAIN {code} for a fresh card."
    ),
    DecisionOutcome.NOT_WHOLE: gettext_noop(
        "I cannot tell whether all of {code} reached you, so it cannot be approved. "
        "Reply AGAIN {code} for a fresh card, or NO {code}."
    ),
    DecisionOutcome.NOT_EDITABLE: gettext_noop("{code} cannot be changed: approve or cancel it."),
    DecisionOutcome.NOT_SENT: gettext_noop("I am still sending {code}: please read all of it first."),
    DecisionOutcome.CONFIRM: gettext_noop(
        "{code} is high risk, and a sender can be forged. To approve it, send OK {code} {number} "
        "within 10 minutes: {summary}."
    ),
    DecisionOutcome.WRONG_NUMBER: gettext_noop("That number does not match {code}. Nothing was approved."),
    DecisionOutcome.TOO_MANY_TRIES: gettext_noop(
        "Too many tries for {code}. It can still be cancelled here, or approved in another chat of yours."
    ),
    DecisionOutcome.SNOOZED: gettext_noop("I will remind you of {code}; it stays open until {expires}."),
    DecisionOutcome.TOO_LATE_TO_SNOOZE: gettext_noop("{code} ends too soon for that: it is open until {expires}."),
    DecisionOutcome.ASK_CHANGE: gettext_noop("What should I change about {code}? Reply in your own words."),
    DecisionOutcome.NEEDS_CODE: gettext_noop("Please write OK {code} to approve or NO {code} to cancel: {summary}."),
    DecisionOutcome.NEEDS_PRESS: gettext_noop(
        "{code} is high risk, so a reaction does not decide it: {summary}. "
        "Press a button of its card, or reply OK {code} or NO {code}."
    ),
    DecisionOutcome.SEVERAL: gettext_noop("More than one open request fits your reaction, so it decides nothing."),
    DecisionOutcome.TAKEN_BACK: gettext_noop(
        "Taking your reaction back changes nothing: {code} was decided {by} at {decided}."
    ),
    DecisionOutcome.GUESSED: gettext_noop(
        "Too many wrong codes came from here, so codes decide nothing here for an hour. "
        "You can decide in another chat of yours, or by a button."
    ),
    DecisionOutcome.NOTHING: gettext_noop(
        "Nothing that waits here can be decided this way. High risk is decided one by one; PENDING lists what waits."
    ),
    DecisionOutcome.NO_CODE: gettext_noop("Nothing waits under {code}. PENDING lists what does."),
    DecisionOutcome.NOT_YOURS: gettext_noop("This is not yours to decide."),
    DecisionOutcome.UNKNOWN: gettext_noop("This button no longer works."),
    DecisionOutcome.REMINDER: gettext_noop(
        "{code} is still waiting for your decision, until {expires}: {summary}. Reply OK {code} or NO {code}."
    ),
}
_OUTCOMES = frozenset[str](DecisionOutcome)
_TOASTS = {DecisionOutcome.APPROVED: gettext_noop("Approved."), DecisionOutcome.CANCELLED: gettext_noop("Cancelled.")}
"""Short texts for the presser of a button, in place of the whole sentence."""
_ON_CARDS = {
    CardOutcome.APPROVED: gettext_noop("Approved at {when}."),
    CardOutcome.CANCELLED: gettext_noop("Cancelled at {when}."),
    CardOutcome.REPLACED: gettext_noop("To be changed, as you asked at {when}."),
    CardOutcome.EXPIRED: gettext_noop("Expired at {when}; nothing was done."),
    CardOutcome.REISSUED: gettext_noop("Asked again at {when}, since your accounts were linked."),
    CardOutcome.AMENDED: gettext_noop("Void since {when}: you changed your message."),
    CardOutcome.NOT_BOTH: gettext_noop("Void since {when}: not both of you agreed. Nothing was done."),
}
_CHANNELS = {"slack": "Slack", "telegram": "Telegram", "terminal": "Terminal"}


def said_of(sentences: Sequence[Sentence], timezone: str | None, now: datetime) -> str:
    """Return stored sentences as the text of a message, in Markdown, a line each.

    A key that is no outcome of a decision is the sentence itself, in English, such as an ability's.
    """
    return "\n".join(
        _filled(DecisionOutcome(one.key), one.values, lambda at: moment(at, timezone, now), literal)
        if one.key in _OUTCOMES
        else gettext(one.key, **one.values)
        for one in sentences
    )


def decided_text(outcome: DecisionOutcome, code: str, summary: str) -> str:
    """Return the sentence about a decision that was made in words, in Markdown."""
    return gettext(_SENTENCES[outcome], code=code, summary=literal(summary))


def toast(outcome: DecisionOutcome, values: JsonObject, timezone: str | None, now: datetime) -> str | None:
    """Return the text for the presser of a button, without markup; None if there is nothing to say."""
    if outcome in _TOASTS:
        return gettext(_TOASTS[outcome])
    if outcome not in _SENTENCES:
        return None
    return _filled(outcome, values, lambda at: moment(at, timezone, now), str)


def card_line(outcome: CardOutcome, at: datetime, timezone: str | None, now: datetime) -> str:
    """Return the line that every card of an approval shows once it is decided."""
    return gettext(_ON_CARDS[outcome], when=moment(at, timezone, now))


def moment(at: datetime, timezone: str | None, now: datetime) -> str:
    """Return a moment as the person's wall time, with the date unless it is today; in UTC if no zone is known."""
    zone = zone_or_utc(timezone)
    local = at.astimezone(zone)
    clock = time_in_words(local)
    if local.date() == now.astimezone(zone).date():
        return clock
    return gettext("{time} on {date}", time=clock, date=format_skeleton("MMMMd", local, locale=current_locale()))


def _filled(
    outcome: DecisionOutcome, values: JsonObject, told: Callable[[datetime], str], written: Callable[[str], str]
) -> str:
    """Fill a sentence with its values; a missing moment is left out, as that of a card which was not sent."""
    return gettext(
        _SENTENCES[outcome],
        code=values.get("code"),
        summary=written(str(values.get("summary"))),
        number=values.get("number"),
        by=_by(values.get("decided_on")),
        decided=_told(values, "decided_at", told),
        expires=_told(values, "expires_at", told),
    )


def _told(values: Mapping[str, Json], name: str, told: Callable[[datetime], str]) -> str:
    at = values.get(name)
    return told(datetime.fromisoformat(at)) if isinstance(at, str) else ""


def _by(channel: Json) -> str:
    """Return a decision's person and channel in words, such as "by you by SMS"."""
    match channel:
        case None | "":
            return gettext("by you")
        case "sms":
            return gettext("by you by SMS")
        case "operator":
            return gettext("by the operator")
        case "console":
            return gettext("by you in the console")
    return gettext("by you on {channel}", channel=_CHANNELS.get(str(channel), str(channel).capitalize()))
