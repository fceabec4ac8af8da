"""Mails missed while away: nothing to fetch. The mailbox keeps them, and reading goes on after the last mail."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from providers.email.client import OwnMailbox

RENUMBERED_DAYS = 7
"""Days that are read again if the server has renumbered all mails; their Message-IDs prevent duplicates."""
_BITS = 32


@dataclass(frozen=True, slots=True)
class Position:
    """The last mail that was taken in. A UID means something under its UIDVALIDITY only (RFC 9051 section 2.3.1.1)."""

    uid_validity: int
    uid: int

    def packed(self) -> int:
        """Return both numbers as the signed number that the lease stores."""
        number = self.uid_validity << _BITS | self.uid
        return number - (1 << 64) if number >= 1 << 63 else number

    @classmethod
    def unpacked(cls, number: int) -> "Position":
        number %= 1 << 64
        return cls(number >> _BITS, number % (1 << _BITS))


async def position_in(mailbox: OwnMailbox, known: int) -> Position | None:
    """Return the position to read on from; None if the mails were renumbered, so that the last days are read again.

    A mailbox that is read for the first time begins now: its older mails were not meant for us.
    """
    if not known:
        return Position(mailbox.uid_validity, await mailbox.last_uid())
    position = Position.unpacked(known)
    return position if position.uid_validity == mailbox.uid_validity else None


async def renumbered(mailbox: OwnMailbox, now: datetime) -> tuple[list[int], Position]:
    """Return the mails that may be new after a renumbering, and the position to read on from."""
    position = Position(mailbox.uid_validity, await mailbox.last_uid())  # first: mails that arrive now come after it
    return list(await mailbox.since((now - timedelta(days=RENUMBERED_DAYS)).date())), position


async def catch_up(since: datetime) -> int:
    """Return 0: see above."""
    return 0
