"""Messages in and out, independent of any provider.

`parse.py` in each channel makes the inbound types; `notify` takes the outbound one. Everything here is a
frozen value, so it may cross any folder's border.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.json_types import JsonObject
from core.messaging.files import OutgoingFile
from core.messaging.pointed import Pointed

CHOICE = "pick"
"""Stands before the token of a button that is a choice: the buttons of such a message say all that its closing does."""
KEPT_FILE = "kept:"
"""Stands before the id of a file of ours where a file's URL would."""


@dataclass(frozen=True, slots=True)
class Address:
    """Name one thread of talk on one channel: the place where we speak to a person.

    `account` is our side (a Twilio sender, a Slack team id, a bot's numeric id); `peer` is where the
    provider delivers (an E.164 number, a Slack DM channel id, a Telegram chat id); `thread` is empty for
    the top level.
    """

    channel: str
    account: str
    peer: str
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Media:
    """Point at a file: one that a person sent by its provider's reference, one that goes out by our own."""

    url: str
    content_type: str
    name: str = ""
    size: int | None = None
    voice: bool = False
    """Whether it was recorded as a message to us, so that what it says is said by its sender."""

    @property
    def file_id(self) -> str | None:
        """Return the id of a file that we keep; None for any other."""
        return self.url.removeprefix(KEPT_FILE) if self.url.startswith(KEPT_FILE) else None


@dataclass(frozen=True, slots=True)
class Command:
    """A person's own word for the gateway itself (`/start`, `/valet new`): `name` lower case, no slash."""

    name: str
    argument: str = ""


class Origin(StrEnum):
    """Whose words a person's message has."""

    OWN = "own"
    FORWARDED = "forwarded"
    """Somebody else's, or older ones, which the person passed on."""
    VIA_BOT = "via_bot"
    """Those of a program, sent in the person's name."""
    CLIENT = "client"
    """Those of a program to which the person gave a token: a request, which their assistant answers."""


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A person's message, normalised.

    `sender` is the identity's user key: an E.164 number, a Slack user id, a Telegram numeric id; never a
    display name. `keys` are all dedupe keys the provider gives for this message (DESIGN section 6); any
    known one makes it a duplicate. `sent_at` is the provider's time, None where it states none.
    """

    address: Address
    sender: str
    keys: tuple[str, ...]
    text: str
    media: tuple[Media, ...] = ()
    command: Command | None = None
    sent_at: datetime | None = None
    sender_name: str = ""
    sender_timezone: str | None = None
    sender_language: str | None = None
    """A BCP 47 tag: the language that the provider tells of the sender, or where it tells none, that of the words."""
    provider_id: str | None = None
    """The provider's own id of the message (MessageSid, Slack ts, Telegram message_id)."""
    reply_to: str = ""
    """The provider's id of the message of ours that this one answers, where the provider says so."""
    origin: Origin = Origin.OWN
    """Words that are not the person's own decide nothing and command nothing."""
    subject: str = ""
    """What a mail is about, without "Re:" and the like."""
    points: tuple[Pointed, ...] = ()
    """What the person points at; `text` and `media` are what they said and sent themselves."""
    pointed_media: tuple[Media, ...] = ()
    """The files of what the person points at."""
    goes_on: str | None = None
    """What stood where the provider cut a longer text after this part of it, empty in the midst of a word: the next
    message may be the rest. None where this message cannot be such a part."""


@dataclass(frozen=True, slots=True)
class Press:
    """A button that a person pressed, or a form that they sent.

    `token` came back from `Action.token` or `Form.token`: clients can forge it, so it proves nothing; authority is
    `sender`, the identity's user key, and what is stored under the token. `provider_id` names the message on which
    the button stood. `entered` are a sent form's values by field name, None for a button. `has_forms`: the channel
    can open a form for the presser.
    """

    address: Address
    sender: str
    keys: tuple[str, ...]
    token: str
    provider_id: str | None = None
    entered: tuple[tuple[str, str], ...] | None = None
    has_forms: bool = False


class IgnoreReason(StrEnum):
    """Why an authentic message gets no turn."""

    BOT = "bot"
    OWN = "own"
    EDITED = "edited"
    GROUP = "group"
    EMPTY = "empty"
    UNSUPPORTED = "unsupported"
    OTHER_ACCOUNT = "other_account"
    OPTED_OUT = "stopped"
    UNKNOWN = "unknown"
    """The sender is nobody we know, and the access policy does not let them in."""
    CARRIER = "carrier"
    """The carrier's side answers this word itself."""
    REACTION = "reaction"
    """A reaction to a message, which a phone sent as a text."""
    BROKEN = "broken"
    """It broke us each time that it was tried."""
    UNPROVEN = "unproven"
    """Nothing proves who wrote it: a mail whose sender the receiving server does not vouch for."""


@dataclass(frozen=True, slots=True)
class IgnoredMessage:
    """An authentic message that we do not answer; kept without its text."""

    address: Address
    sender: str
    keys: tuple[str, ...]
    reason: IgnoreReason
    reply: str = ""
    """Said once per conversation, reason and kind, where a person would otherwise wonder (a group): a sentence of the
    catalogues, in English, which the inbox says in the person's language. So is `ReachabilityChange.reply`."""
    kind: str = ""
    """What it was that we cannot read, as the provider calls it: each kind has its answer."""


class DeliveryStatus(StrEnum):
    """What a provider says became of a part after it accepted it, in rising rank."""

    ACCEPTED = "accepted"
    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    UNDELIVERED = "undelivered"
    FAILED = "failed"

    @property
    def rank(self) -> int:
        """Order statuses so that a late callback never moves a part back."""
        ranks = {"accepted": 0, "sent": 1, "failed": 2, "undelivered": 2, "delivered": 3, "read": 4}
        return ranks[self.value]


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """A provider's later word on one part we sent. `ref` is our own id where the provider returns it.

    `files_lost`: it took the part, but could not fetch or use the files, and sent nothing.
    `gone`: the address that it was sent to exists no more.
    """

    channel: str
    account: str
    provider_id: str
    ref: str
    status: DeliveryStatus
    error_code: str = ""
    files_lost: bool = False
    gone: bool = False


class ReachabilityReason(StrEnum):
    """Why a person can be reached at an address, or not any more."""

    OPTED_IN = "started"
    OPTED_OUT = "stopped"
    """They said STOP."""
    UNBLOCKED = "unblocked"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class ReachabilityChange:
    """A person blocked us or let us in again (Telegram's my_chat_member, an opt-out at the carrier)."""

    channel: str
    account: str
    sender: str
    reachable: bool
    reason: ReachabilityReason
    keys: tuple[str, ...] = ()
    reply: str = ""
    """Said once to the sender's own address when this changed anything, where the carrier does not confirm it."""
    said_at: datetime | None = None
    """When, as the provider tells it, where it does: what was said later and known earlier counts."""


@dataclass(frozen=True, slots=True)
class SenderProfile:
    """What the provider says of somebody, asked after they wrote; empty: it says none.

    `timezone` is an IANA name, `language` a BCP 47 tag.
    """

    channel: str
    account: str
    sender: str
    name: str = ""
    timezone: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class AddressChange:
    """The provider moved a conversation to a new address (Telegram's chat migration)."""

    channel: str
    account: str
    old_peer: str
    new_peer: str
    keys: tuple[str, ...] = ()


type Inbound = (
    InboundMessage | Press | IgnoredMessage | StatusUpdate | ReachabilityChange | AddressChange | SenderProfile
)


class OutboundKind(StrEnum):
    """What an outbound message is for; the policy of `notify` depends on it."""

    REPLY = "reply"
    CARD = "card"
    NOTIFICATION = "notification"
    RECEIPT = "receipt"
    OUTREACH = "outreach"
    """To somebody else, on the person's behalf."""


class ActionStyle(StrEnum):
    """How a button looks where the provider has looks."""

    PLAIN = "plain"
    PRIMARY = "primary"
    DANGER = "danger"


@dataclass(frozen=True, slots=True)
class Action:
    """A button: `token` is opaque, under 64 bytes, and proves nothing by itself."""

    label: str
    token: str
    style: ActionStyle = ActionStyle.PLAIN
    needs_forms: bool = False
    """Whether it does anything only where the channel can open a form; elsewhere it is left out."""


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """A message queued for a person: Markdown text, and buttons where the channel has them."""

    id: str
    kind: OutboundKind
    text: str
    actions: tuple[Action, ...] = ()
    """Buttons, below the last of the parts: a press proves that all parts were sent."""
    media: tuple[Media, ...] = field(default=())
    files: tuple[OutgoingFile, ...] = ()
    """Those of `media` that the channel carries, filled in for its renderer. They follow the text."""
    wants_reply: bool = False
    """Where the provider can, the person's answer is begun as a reply to this message (Telegram's force_reply)."""
    closing: str = ""
    """The end of `text` that holds only while a card is open, in plain words: a redraw leaves it out."""

    @property
    def lasting(self) -> str:
        """Return the text without its closing."""
        return self.text.removesuffix(self.closing).rstrip()

    @property
    def chooses(self) -> bool:
        """Return whether its buttons are the choices of a question, which its closing lists in words."""
        return bool(self.actions) and all(action.token.startswith(CHOICE) for action in self.actions)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of ours by its key, with the values to fill in; its words are found when the message is rendered."""

    key: str
    values: JsonObject


class FormFieldKind(StrEnum):
    """How a value of a form is entered."""

    LINE = "line"
    TEXT = "text"
    """Several lines."""
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class FormField:
    """One value of a form: `name` comes back with what was entered, `value` is what stands in it at first."""

    name: str
    label: str
    value: str = ""
    kind: FormFieldKind = FormFieldKind.LINE
    options: tuple[str, ...] = ()
    required: bool = True
    schema: JsonObject = field(default_factory=dict)
    """What can be told of a value without the tool, as JSON schema; `pattern` is for all of a text or list item."""
    wanted: str = ""
    """What the value must be, in words for the person."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a person fills in, where the provider has forms. Without fields it only shows `text`, which is no Markdown.

    A field that the provider cannot hold is left out, and is then missing in `Press.entered`: it stays as it is.
    """

    token: str
    title: str
    text: str = ""
    fields: tuple[FormField, ...] = ()
