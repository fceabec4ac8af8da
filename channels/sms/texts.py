"""The meaning of a text: a message, a word about opting in or out, a reaction, or nothing to answer; pure."""

import re
from dataclasses import dataclass
from datetime import datetime

from channels.sms.tapbacks import MAY_BE_TAPBACK, Tapback, find_tapback
from core.errors import RequestRefused
from core.language.catalogue import gettext_noop
from core.language.written import language_written
from core.messaging.help_words import HELP
from core.messaging.inbound import Inbound, Reaction
from core.messaging.messages import (
    Address,
    Command,
    IgnoredMessage,
    IgnoreReason,
    InboundMessage,
    Media,
    ReachabilityChange,
    ReachabilityReason,
)
from providers.sms.wire import is_service

CHANNEL = "sms"
SENDER = re.compile(r"[!-~]([ -~]{0,62}[!-~])?")
"""A sender as Twilio names it, which may be a short code or a name."""
_E164 = re.compile(r"\+[1-9][0-9]{6,14}")
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")

OPT_OUT_WORDS = frozenset({"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"})
OPT_IN_WORDS = frozenset({"START", "UNSTOP"})
HELP_WORDS = frozenset({"HELP", "INFO"})
"""Twilio acts on these (help.twilio.com 223134027): alone in a text, in any case and with any spaces around."""
SPELLINGS = {"STOP ALL": "STOPALL", "STOP-ALL": "STOPALL", "OPT OUT": "OPTOUT", "OPT-OUT": "OPTOUT"}
"""Spellings that Twilio passes on, with the same meaning; likewise its own words with punctuation around them."""

OPTED_OUT_REPLY = gettext_noop("You will get no more messages from this assistant. Send START to get them again.")
OPTED_IN_REPLY = gettext_noop("You get messages from this assistant again. Send STOP to end them, HELP for help.")


@dataclass(frozen=True, slots=True)
class Account:
    """Our side: the account's SID, and the sender as configured (an E.164 number or a Messaging Service).

    `carrier_answers`: Twilio answers STOP, START and HELP itself; otherwise we do.
    """

    sid: str
    sender: str
    carrier_answers: bool = True

    @property
    def is_service(self) -> bool:
        return is_service(self.sender)


@dataclass(frozen=True, slots=True)
class Text:
    """A text or picture message as Twilio describes it, by webhook or in its message list."""

    sid: str
    sender: str
    to: str
    body: str
    service: str = ""
    opt_out: str = ""
    media: tuple[Media, ...] = ()
    sent_at: datetime | None = None


def read_text(text: Text, account: Account) -> tuple[Inbound, ...]:
    """Return the meaning of a text: a message, a word about opting in or out, or nothing to answer."""
    if not SENDER.fullmatch(text.sender):
        raise RequestRefused("From is not well-formed")
    address = Address(channel=CHANNEL, account=account.sender, peer=text.sender)
    ours = text.service == account.sender if account.is_service else text.to == account.sender
    if not ours:
        return (_ignored(text, address, IgnoreReason.OTHER_ACCOUNT),)
    if not _E164.fullmatch(text.sender):  # a short code or a name: no answer is read
        return (_ignored(text, address, IgnoreReason.UNSUPPORTED),)
    body = text.body.replace("\x00", "")
    word = _word(body)
    opt_out = text.opt_out.upper()
    answered = _carrier_answered(text, account)
    if opt_out == "STOP" or word in OPT_OUT_WORDS:
        return (_reachability(text, address, reachable=False, answered=answered, keys=(text.sid,)),)
    if word != "YES" and (opt_out == "START" or word in OPT_IN_WORDS):
        return (_reachability(text, address, reachable=True, answered=answered, keys=(text.sid,)),)
    if not body.strip() and not text.media:
        return (_ignored(text, address, IgnoreReason.EMPTY),)
    asks_help = opt_out == "HELP" or word in HELP_WORDS
    if asks_help and answered:
        return (_ignored(text, address, IgnoreReason.CARRIER),)
    if not text.media and MAY_BE_TAPBACK.match(body) and (tapback := find_tapback(body)):
        return (_reaction(text, address, tapback),)
    message = InboundMessage(
        address=address,
        sender=text.sender,
        keys=(text.sid,),
        text=body,
        media=text.media,
        command=Command(HELP.name) if asks_help else None,
        sent_at=text.sent_at,
        sender_language=language_written(body) or None,
        provider_id=text.sid,
    )
    if word == "YES":
        keys = (f"{text.sid}:started",)
        return (_reachability(text, address, reachable=True, answered=answered, keys=keys), message)
    return (message,)


def _ignored(text: Text, address: Address, reason: IgnoreReason) -> IgnoredMessage:
    return IgnoredMessage(address=address, sender=text.sender, keys=(text.sid,), reason=reason)


def _word(body: str) -> str:
    word = _AROUND.sub("", body).upper()
    word = re.sub(r"\s+", " ", word)
    return SPELLINGS.get(word, word)


def _carrier_answered(text: Text, account: Account) -> bool:
    """Return whether the person already has an answer to this word; OptOutType means that Twilio acted on it."""
    if text.opt_out:
        return True
    word = text.body.strip().upper()
    return account.carrier_answers and word in OPT_OUT_WORDS | OPT_IN_WORDS | HELP_WORDS | {"YES"}


def _reachability(
    text: Text, address: Address, *, reachable: bool, answered: bool, keys: tuple[str, ...]
) -> ReachabilityChange:
    reply = OPTED_IN_REPLY if reachable else OPTED_OUT_REPLY
    return ReachabilityChange(
        channel=CHANNEL,
        account=address.account,
        sender=text.sender,
        reachable=reachable,
        reason=ReachabilityReason.OPTED_IN if reachable else ReachabilityReason.OPTED_OUT,
        keys=keys,
        reply="" if answered else reply,
        said_at=text.sent_at,
    )


def _reaction(text: Text, address: Address, tapback: Tapback) -> Reaction:
    emoji = (tapback.emoji,)
    return Reaction(
        address,
        text.sender,
        (text.sid,),
        added=() if tapback.taken_back else emoji,
        removed=emoji if tapback.taken_back else (),
        quote=tapback.quote,
        cut=tapback.cut,
        at=text.sent_at,
    )
