"""The states of messages, and of their recipients' addresses, as the database holds them."""

from enum import StrEnum


class SendState(StrEnum):
    """The state of an outbound message or of a part."""

    HELD = "held"
    """It waits for its release."""
    READY = "ready"
    SENDING = "sending"
    CHECKING = "checking"
    """The outcome of a call is unknown, and is looked up or awaited."""
    SENT = "sent"
    AMBIGUOUS = "ambiguous"
    """Its end: whether it arrived is unknown."""
    FAILED = "failed"


OPEN = frozenset({SendState.READY, SendState.SENDING, SendState.CHECKING})
"""The states in which a sender still has work to do on it."""


class CallOutcome(StrEnum):
    """The outcome of a call to a provider."""

    ACCEPTED = "accepted"
    FOUND = "found"
    """Its answer was lost; the provider shows that it accepted the part."""
    AMBIGUOUS = "ambiguous"
    LEFT = "left"
    """Its answer was lost, and is no longer looked for."""
    RETRY = "retry"
    GAVE_UP = "gave_up"
    REJECTED = "rejected"


class IdentityState(StrEnum):
    """The state of an address: whether its person can be reached there."""

    ACTIVE = "active"
    OPTED_OUT = "stopped"
    """They said STOP."""
    BLOCKED = "blocked"
    """They blocked us, or are gone."""
