"""The states of what is sent, and of those whom it is sent to, as the database holds them."""

from enum import StrEnum


class SendState(StrEnum):
    """The state of an outbound message or of one of its parts."""

    HELD = "held"
    """Waits to be released."""
    READY = "ready"
    SENDING = "sending"
    CHECKING = "checking"
    """The outcome of a call is unknown, and is looked up or waited for."""
    SENT = "sent"
    AMBIGUOUS = "ambiguous"
    """Ended without anybody knowing whether it arrived."""
    FAILED = "failed"

    @property
    def is_open(self) -> bool:
        """Return whether a sender has work left with it."""
        return self in (SendState.READY, SendState.SENDING, SendState.CHECKING)


class CallOutcome(StrEnum):
    """What became of one call to a provider."""

    ACCEPTED = "accepted"
    FOUND = "found"
    """Its answer was lost; the provider shows that it accepted the part."""
    AMBIGUOUS = "ambiguous"
    LEFT = "left"
    """Its answer was lost, and nobody will look for it any more."""
    RETRY = "retry"
    GAVE_UP = "gave_up"
    REJECTED = "rejected"


class IdentityState(StrEnum):
    """Whether a person can be reached at an address."""

    ACTIVE = "active"
    OPTED_OUT = "stopped"
    """They said STOP."""
    BLOCKED = "blocked"
    """They blocked us, or are gone."""
