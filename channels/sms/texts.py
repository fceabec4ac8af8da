"""The meaning of a text: a message, a word about opting in or out, a reaction, or nothing to answer; pure.

Phones send reactions as texts, since SMS has none: `Liked “Dinner at 8”`, in the phone's own language, with the whole
message or its beginning. A reaction is a phone's wording followed by only the quote, or by the kind of the quoted
attachment; a text with more words is a message.
Source: public reports, such as github.com/FossifyOrg/Messages/issues/190; neither Apple nor Google documents it.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from core.errors import RequestRefused
from core.language.catalogue import gettext_noop
from core.language.written import language_written
from core.messaging.emoji import THUMB_DOWN, THUMB_UP, plain_emoji
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
    if not text.media and (tapback := find_tapback(body)):
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


_UNSEEN = re.compile("[\u00ad\u034f\u200a-\u200f\u2060\ufe0e\ufe0f\ufeff]")
_EMOJI = r"[^\w\s\"“”„«»‘’'.,:;!?()]{1,12}"
_MENTION = r"«\s?[^«»]{1,30}\s?»"
_VERBS = {
    THUMB_UP: ("Liked", "liked", "Le gustó", "le gustó", "A aimé"),
    THUMB_DOWN: ("Disliked", "No le gustó", "N’a pas aimé", "N'a pas aimé"),
    "❤": ("Loved", "Le encantó", "A adoré"),
    "😂": ("Laughed at", "Le dio risa", "Se rió de", "A ri de"),
    "‼": ("Emphasized", "Emphasised", "Exclamó por", "Enfatizó", "Destacó", "A souligné", "A mis en évidence"),
    "❓": ("Questioned", "Dudó sobre", "A remis en question"),
}
"""Apple's words for its six reactions, in English, Spanish and French."""
_NOUNS = {
    THUMB_UP: ("a like", "J’aime", "J'aime"),
    THUMB_DOWN: ("a dislike", "Je n’aime pas", "Je n'aime pas"),
    "❤": ("a heart", "Adore"),
    "😂": ("a laugh",),
    "‼": ("an exclamation",),
    "❓": ("a question mark",),
}
_WORDS = {word: emoji for words in (_VERBS, _NOUNS) for emoji, said in words.items() for word in said}
_SAYINGS = (
    "|".join(word for said in _VERBS.values() for word in said),
    rf"Reacted (?:with )?{_EMOJI} to|{_EMOJI} to",
    rf"Removed (?:an? (?:like|heart|dislike|laugh|exclamation|question mark)|{_EMOJI}) from",
    rf"Reaccionó con {_EMOJI} a",
    rf"[Aa] attribué la mention {_MENTION} à|[Aa] retiré la mention {_MENTION} (?:de|à)",
    rf"[Aa] réagi (?:avec )?{_EMOJI} à|[Aa] retiré la réaction {_EMOJI} à",
)
_TAKEN_BACK = re.compile(r"Removed |[Aa] retiré ")
_IN_SAYING = re.compile(rf"«\s?(?P<mention>[^«»]+?)\s?»|Removed (?P<noun>an? [a-z ]+?) from|(?P<emoji>{_EMOJI})")
_QUOTED = r"(?:“.*(?:”|…)|„.*(?:[“”]|…)|«.*(?:»|…)|\".*(?:\"|…|\.\.\.))"
_SEVERAL = re.compile(r"[”»][^“«„”»]*\w[^“«„”»]*[“«„]")
"""Words between two quotes: a person's, since a phone quotes a single message."""
_THINGS = (
    r"(?:an?|the) (?:image|photo|picture|movie|video|(?:audio|voice) message|attachment|contact|location|sticker|link)",
    r"[0-9]{1,3} (?:images|photos|attachments)",
    r"una? (?:imagen|foto|vídeo|video|película|mensaje de audio|archivo adjunto|contacto)",
    r"une? (?:image|photo|vidéo|message audio|pièce jointe|contact)",
)
_TAPBACK = re.compile(
    rf"(?P<saying>{'|'.join(_SAYINGS)})\s*(?:(?P<quoted>{_QUOTED})|(?:{'|'.join(_THINGS)}))\s*", re.DOTALL
)
_CUT = re.compile(r"(?:…|\.\.\.)\s*[”“»\"]?$")


def find_tapback(text: str) -> re.Match[str] | None:
    """Return the parts of a text that is a reaction to a message and says nothing else; None for any other."""
    seen = _UNSEEN.sub("", text).strip()
    match = _TAPBACK.fullmatch(seen)
    return match if match and (" attribué " in seen or " retiré " in seen or not _SEVERAL.search(seen)) else None


def _reaction(text: Text, address: Address, tapback: re.Match[str]) -> Reaction:
    """Return the reaction that a phone's wording stands for; on a picture it quotes nothing."""
    saying, quoted = tapback["saying"], tapback["quoted"] or ""
    emoji = (_emoji(saying),)
    taken_back = bool(_TAKEN_BACK.match(saying))
    cut = _CUT.search(quoted)
    return Reaction(
        address,
        text.sender,
        (text.sid,),
        added=() if taken_back else emoji,
        removed=emoji if taken_back else (),
        quote=(quoted[1 : cut.start()] if cut else quoted[1:-1]).strip(),
        cut=cut is not None,
        at=text.sent_at,
    )


def _emoji(saying: str) -> str:
    """Return the emoji of a phone's wording; a word that is no reaction we know stands for itself, in colons."""
    if saying in _WORDS:
        return _WORDS[saying]
    match = _IN_SAYING.search(saying)
    word = (match["mention"] or match["noun"] or match["emoji"]) if match else saying
    return _WORDS.get(word) or plain_emoji(word if re.fullmatch(_EMOJI, word) else f":{word}:")
