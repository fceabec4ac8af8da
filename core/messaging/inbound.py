"""All that channels hand to the inbox: messages, events about them, and people's changes of earlier messages."""

from dataclasses import dataclass
from datetime import datetime

from core.messaging.messages import (
    Address,
    AddressChange,
    IgnoredMessage,
    InboundMessage,
    Press,
    ReachabilityChange,
    SenderProfile,
    StatusUpdate,
)
from core.messaging.places import SentPlace


@dataclass(frozen=True, slots=True)
class Reaction:
    """A person's change of their reactions to one of our messages: emoji, without skin tones, or names in colons.

    `message`: the provider's id of the message. Phones that send reactions as texts name none: then `quote` has its
    words, of which the end is missing if `cut`.
    """

    address: Address
    sender: str
    keys: tuple[str, ...]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    message: str = ""
    quote: str = ""
    cut: bool = False
    at: datetime | None = None
    """The provider's time of the change, if it states one."""


@dataclass(frozen=True, slots=True)
class Amendment:
    """A person changed a message that they had sent, or deleted it.

    `of`: the keys of that message; `keys`: the change's own. `message`: the message as it is now, None if it was
    deleted. `changed_at`: the provider's time of the change. `sender` is empty if the provider does not say whose
    message it was.
    """

    address: Address
    sender: str
    keys: tuple[str, ...]
    of: tuple[str, ...]
    message: InboundMessage | None
    changed_at: datetime
    sent_at: datetime | None = None
    """The provider's time of the message itself."""


@dataclass(frozen=True, slots=True)
class PlaceMove:
    """The place that a person shares by an earlier message, `provider_id`, is another at the moment `at`.

    Without `place.live_until` it is shared no longer. Of two moves the later by `at` counts, so it needs no keys.
    """

    address: Address
    sender: str
    provider_id: str
    place: SentPlace
    at: datetime | None


type Inbound = (
    InboundMessage
    | Amendment
    | Press
    | Reaction
    | IgnoredMessage
    | StatusUpdate
    | ReachabilityChange
    | AddressChange
    | SenderProfile
    | PlaceMove
)
