"""Messages in and out, independent of any provider.

`parse.py` in each channel makes the inbound types; `notify` takes the outbound type. Everything here is a
frozen value, so it may cross any folder's border.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.json_types import JsonObject
from core.messaging.files import OutgoingFile
from core.messaging.places import SentPlace
from core.messaging.pointed import Pointed

CHOICE = "pick"
"""Stands before the token of a button that is a choice: the buttons of such a message say all that its closing does."""
KEPT_FILE = "kept:"
"""In place of a file's URL: the prefix of the id of a stored file."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a thread of talk on a channel: the place where we speak to a person.

    `account`: our side (a Twilio sender, a Slack team id, a bot's numeric id). `peer`: the place to which the provider
    delivers (an E.164 number, a Slack DM channel id, a Telegram chat id). `thread`: empty for the top level.
    """

    channel: str
    account: str
    peer: str
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Media:
    """A reference to a file: the provider's for a file from a person, our own for a file that goes out."""

    url: str
    content_type: str
    name: str = ""
    size: int | None = None
    voice: bool = False
    """Whether it was recorded as a message to us, so that its words are the sender's."""

    @property
    def file_id(self) -> str | None:
        """Return the id of a file that we keep; None for any other."""
        return self.url.removeprefix(KEPT_FILE) if self.url.startswith(KEPT_FILE) else None


@dataclass(frozen=True, slots=True)
class Command:
    """A person's own word for the gateway itself (`/start`, `/valet new`): `name` lower case, no slash."""

    name: str
    argument: str = ""
    switch: str = ""
    """The preference without which the word is a text like any other."""


class Origin(StrEnum):
    """The author of the words in a person's message."""

    OWN = "own"
    FORWARDED = "forwarded"
    """Somebody else's words, or older words, which the person forwarded."""
    VIA_BOT = "via_bot"
    """The words of a program, sent in the person's name."""
    CLIENT = "client"
    """The words of a program with a token of the person's: a request, which their assistant answers."""


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A person's message, normalised.

    `sender`: the identity's user key, such as an E.164 number, a Slack user id or a Telegram numeric id; never a
    display name. `keys`: all dedupe keys that the provider gives for this message (DESIGN section 6); any known key
    makes it a duplicate. `sent_at`: the provider's time, None if it states none.
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
    """A BCP 47 tag: the sender's language by the provider, or if it names none, the language of the text."""
    provider_id: str | None = None
    """The provider's own id of the message (MessageSid, Slack ts, Telegram message_id)."""
    reply_to: str = ""
    """The provider's id of our message that this message answers, if the provider says so."""
    origin: Origin = Origin.OWN
    """Words that are not the person's own decide nothing and command nothing."""
    subject: str = ""
    """The subject of a mail, without "Re:" and the like."""
    points: tuple[Pointed, ...] = ()
    """Words that the person points at; `text` and `media` are the person's own."""
    pointed_media: tuple[Media, ...] = ()
    """The files that belong to `points`."""
    goes_on: str | None = None
    """The character at which the provider cut a longer text after this part, empty inside a word: the next message may
    be the rest. None if this message cannot be such a part."""
    place: SentPlace | None = None
    """The place that the person sent with it, or shares by it; `text` has no coordinates then."""
    pressed: "Press | None" = None
    """The press that typed it."""


@dataclass(frozen=True, slots=True)
class Press:
    """A button that a person pressed, or a form that they sent.

    `token` comes from `Action.token` or `Form.token`. Clients can forge it, so it proves nothing: authority comes from
    `sender`, the identity's user key, and from the row stored under the token. `provider_id`: the message with the
    button. `entered`: the values of a sent form by field name, None for a button. `has_forms`: the channel can open a
    form for the presser.
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
    DELETED = "deleted"
    GROUP = "group"
    EMPTY = "empty"
    UNSUPPORTED = "unsupported"
    OTHER_ACCOUNT = "other_account"
    OPTED_OUT = "stopped"
    UNKNOWN = "unknown"
    """The sender is unknown, and the access policy does not let them in."""
    CARRIER = "carrier"
    """The carrier answers this word itself."""
    REACTION = "reaction"
    """A reaction to none of our messages in that person's chat."""
    BROKEN = "broken"
    """It broke us at each try."""
    UNPROVEN = "unproven"
    """Its author is unproven: a mail for whose sender the receiving server does not vouch."""


@dataclass(frozen=True, slots=True)
class InGroup:
    """An event in a group, for abilities that take part there: words, as their sender's, or our own coming and going.

    `addressed`: the words mention us, answer us, or are a command for us. `inside`: whether we are in it from now on.
    """

    title: str
    message: InboundMessage | None = None
    addressed: bool = False
    inside: bool | None = None


@dataclass(frozen=True, slots=True)
class IgnoredMessage:
    """An authentic message that we do not answer; it is stored without its text."""

    address: Address
    sender: str
    keys: tuple[str, ...]
    reason: IgnoreReason
    reply: str = ""
    """A reply that is sent once per conversation, reason and kind, if a person would otherwise wonder (in a group): the
    English key of a sentence, which the inbox says in the person's language. So is `ReachabilityChange.reply`."""
    kind: str = ""
    """The provider's name for the kind of a message that we cannot read; each kind has its own reply."""
    group: InGroup | None = None
    """The message for an ability that takes part in the group; without such an ability the message stays ignored."""


class DeliveryStatus(StrEnum):
    """The status of a part that the provider accepted, as it reports it."""

    ACCEPTED = "accepted"
    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    UNDELIVERED = "undelivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """A provider's later report on a sent part. `ref`: our own id, if the provider returns it.

    `files_lost`: it accepted the part, but could not fetch or use the files, and sent nothing.
    `gone`: the part's address no longer exists.
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
    """The reason why a person can or cannot be reached at an address."""

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
    """A reply to the sender's own address if this changed anything and the carrier does not confirm it."""
    said_at: datetime | None = None
    """The provider's time, if it states any: of two changes the later by this time counts."""


@dataclass(frozen=True, slots=True)
class SenderProfile:
    """A person's profile at the provider, read after they wrote; values that it does not state are empty.

    `timezone`: an IANA name; `language`: a BCP 47 tag.
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


class OutboundKind(StrEnum):
    """The purpose of an outbound message, on which the policy of `notify` depends."""

    REPLY = "reply"
    CARD = "card"
    NOTIFICATION = "notification"
    RECEIPT = "receipt"
    OUTREACH = "outreach"
    """To somebody else, on the person's behalf."""


class ActionStyle(StrEnum):
    """The style of a button, if the provider has styles."""

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
    """Whether it needs a channel that can open forms; elsewhere it is left out."""


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """A message queued for a person: Markdown text, and buttons if the channel has them."""

    id: str
    kind: OutboundKind
    text: str
    actions: tuple[Action, ...] = ()
    """Buttons, below the last of the parts: a press proves that all parts were sent."""
    media: tuple[Media, ...] = field(default=())
    files: tuple[OutgoingFile, ...] = ()
    """The files of `media` that the channel carries, filled in for its renderer. They follow the text."""
    wants_reply: bool = False
    """Whether the provider should open a reply to this message for the person, if it can (Telegram's force_reply)."""
    closing: str = ""
    """The end of `text` that applies only while a card is open, in plain words; a redraw leaves it out."""

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
    """A sentence by its key, with its values; it is translated when the message is rendered."""

    key: str
    values: JsonObject


class FormFieldKind(StrEnum):
    """The kind of a form's field."""

    LINE = "line"
    TEXT = "text"
    """Several lines."""
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form. `name`: its key in the sent form; `value`: its initial value."""

    name: str
    label: str
    value: str = ""
    kind: FormFieldKind = FormFieldKind.LINE
    options: tuple[str, ...] = ()
    required: bool = True
    schema: JsonObject = field(default_factory=dict)
    """The checks that need no tool, as JSON schema; `pattern` must match a whole text or list item."""
    wanted: str = ""
    """The requirement for the value, in words for the person."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form for a person, if the provider has forms. Without fields it only shows `text`, which is no Markdown.

    A field that the provider cannot show is left out, and so missing in `Press.entered`: its value stays as it is.
    """

    token: str
    title: str
    text: str = ""
    fields: tuple[FormField, ...] = ()
