"""STOP, START and HELP as Twilio handles them by default.

help.twilio.com 223134027, "Twilio support for opt-out keywords", and docs: messaging/tutorials/advanced-opt-out.
"""

from typing import Literal

STOP_WORDS = frozenset({"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"})
START_WORDS = frozenset({"START", "YES", "UNSTOP"})
HELP_WORDS = frozenset({"HELP", "INFO"})

REPLIES = {
    "STOP": (
        "You have successfully been unsubscribed. You will not receive any more messages from this number. "
        "Reply START to resubscribe."
    ),
    "START": (
        "You have successfully been re-subscribed to messages from this number. Reply HELP for help. "
        "Reply STOP to unsubscribe. Msg&Data Rates May Apply."
    ),
    "HELP": "Reply STOP to unsubscribe. Msg&Data Rates May Apply.",
}

type OptOut = Literal["STOP", "START", "HELP"]


def opt_out_of(text: str) -> OptOut | None:
    """Return the word that a message is; only a single word counts."""
    word = text.strip().upper()
    if word in STOP_WORDS:
        return "STOP"
    if word in START_WORDS:
        return "START"
    return "HELP" if word in HELP_WORDS else None
