"""Mails missed while away: nothing to ask for. The mailbox keeps them, and reading goes on from the last one."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from providers.email.client import OwnMailbox

RENUMBERED_DAYS = 7
"""Days that are read again where the server has given all mails new numbers: by their Message-IDs none comes twice."""
_BITS = 32


@dataclass(frozen=True, slots=True)
class Position:
    """The last mail that was taken in. A UID means something under its UIDVALIDITY only (RFC 9051 section 2.3.1.1)."""

    uid_validity: int
    uid: int

    def packed(self) -> int:
        """Return both as the one signed number that the lease keeps."""
        number = self.uid_validity << _BITS | self.uid
        return number - (1 << 64) if number >= 1 << 63 else number

    @classmethod
    def unpacked(cls, number: int) -> "Position":
        number %= 1 << 64
        return cls(number >> _BITS, number % (1 << _BITS))


async def position_in(mailbox: OwnMailbox, known: int) -> Position | None:
    """Return from where to read on; None where the numbers are new, so that the last days have to be read again.

    A mailbox that is read for the first time begins now: what lies in it was not meant for us.
    """
    if not known:
        return Position(mailbox.uid_validity, await mailbox.last_uid())
    position = Position.unpacked(known)
    return position if position.uid_validity == mailbox.uid_validity else None


async def renumbered(mailbox: OwnMailbox, now: datetime) -> tuple[list[int], Position]:
    """Return the mails that may not have been taken in, where their numbers do not tell, and from where to read on."""
    position = Position(mailbox.uid_validity, await mailbox.last_uid())  # first: what comes now is after it
    return list(await mailbox.since((now - timedelta(days=RENUMBERED_DAYS)).date())), position


async def catch_up(since: datetime) -> int:
    """Return 0: see above."""
    return 0
