"""The reasons for the state of a task or a run: short names in the rows, and sentences for the person."""

from enum import StrEnum

from core.language.catalogue import gettext, gettext_noop
from core.loop.result import Ended


class Reason(StrEnum):
    """The reasons that this room records. A run's turn records its own."""

    UNREACHABLE = "unreachable"
    MISSED = "missed"
    QUIET = "quiet"
    """Quiet hours spare it; a single run makes up for it and others when they end."""
    MADE_UP = "made_up"
    """Quiet hours spared it, and it was made up for."""
    UNCHANGED = "unchanged"
    NOTHING_TO_TELL = "nothing_to_tell"
    UNDELIVERABLE_AGAIN = "undeliverable_again"
    """The event was a message that could not be delivered, which was itself about such a message."""
    TOO_OFTEN = "too_often"
    """It ran so often on messages that it looks like a loop."""
    FILTER_UNCLEAR = "filter_unclear"
    UNFORESEEN = "unforeseen"
    NO_EXECUTOR = "no_executor"
    END_UNKNOWN = "end_unknown"
    FAILURES = "failures"
    """It failed too often in a row."""
    DELETED = "deleted"


_SENTENCES: dict[str, str] = {
    Reason.UNREACHABLE: gettext_noop("there was no place to reach you"),
    Reason.MISSED: gettext_noop("missed: it could not start in time"),
    Reason.QUIET: gettext_noop("it waits for the end of your quiet hours"),
    Reason.MADE_UP: gettext_noop("it was made up for at the end of your quiet hours"),
    Reason.UNCHANGED: gettext_noop("nothing that it looks at had changed"),
    Reason.NOTHING_TO_TELL: gettext_noop("there was nothing to tell"),
    Reason.UNDELIVERABLE_AGAIN: gettext_noop(
        "the message that could not be delivered was itself about one that could not be: it would go on for ever"
    ),
    Reason.TOO_OFTEN: gettext_noop("it had run too often within an hour on messages, which looks like a loop"),
    Reason.FILTER_UNCLEAR: gettext_noop("its filter takes too much work on this event, or does not fit it"),
    Reason.UNFORESEEN: gettext_noop("something in it went wrong unexpectedly"),
    Reason.NO_EXECUTOR: gettext_noop("the part that runs it is no longer installed"),
    Reason.END_UNKNOWN: gettext_noop("it was interrupted, and its result is unknown"),
    Reason.DELETED: gettext_noop("the task was stopped"),
    "model_down": gettext_noop("my language model could not be reached"),
    "model_quota": gettext_noop("my language model's account was empty"),
    "model_auth": gettext_noop("my language model refused my key"),
    "model_rejected": gettext_noop("my language model would not take the request"),
    "poison": gettext_noop("it broke the program that ran it"),
    "error": gettext_noop("something went wrong on my side"),
    Ended.BUDGET: gettext_noop("its budget for the day was used up"),
    Ended.MAX_TURNS: gettext_noop("it took too many steps"),
    Ended.ERRORS: gettext_noop("its tools kept failing"),
    Ended.REFUSED: gettext_noop("my language model refused to answer"),
    Ended.STUCK: gettext_noop("it made no progress"),
    Ended.WAITING: "",
}


def reason_in_words(reason: str) -> str:
    """Return a recorded reason for the person; a reason that is not ours, such as a tool's error, as it is."""
    known = _SENTENCES.get(reason, reason)
    return gettext(known) if known else ""
