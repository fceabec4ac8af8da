"""Lanes of mails: a sender's in order, the position over all before it, and little held of those that wait."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from channels.email.lanes import LARGE, MOST_HELD, Lanes, Waiting
from core.errors import StoreUnavailable
from providers.email.types import StoredMail
from tests.patience import PATIENCE

HALF = MOST_HELD // 2


@dataclass(slots=True)
class Taking:
    """Takes mails when it is let."""

    gates: dict[int, asyncio.Event] = field(default_factory=dict)
    fails: set[int] = field(default_factory=set)
    begun: list[int] = field(default_factory=list)
    held: dict[int, bool] = field(default_factory=dict)

    async def take(self, mail: Waiting) -> None:
        """Take a mail."""
        self.begun.append(mail.uid)
        self.held[mail.uid] = mail.stored is not None
        if mail.uid in self.gates:
            await self.gates[mail.uid].wait()
        if mail.uid in self.fails:
            raise StoreUnavailable


@pytest.fixture
def taking() -> Taking:
    return Taking()


@pytest.fixture
async def lanes(taking: Taking) -> AsyncIterator[Lanes]:
    """Yield lanes of which nothing is left running."""
    lanes = Lanes(taking.take, known={7})
    yield lanes
    await lanes.aclose()


def mail(uid: int, held: int = 0, size: int = 0) -> Waiting:
    stored = StoredMail(1, uid, frozenset(), held, data=bytes(held)) if held else None
    return Waiting(uid, uid, stored, size or held)


async def test_promise_1_the_position_passes_no_mail_that_is_not_taken(lanes: Lanes, taking: Taking) -> None:
    taking.gates[1] = asyncio.Event()
    for uid, sender in ((1, "eve"), (2, "eve"), (3, "ann"), (7, "ann")):
        lanes.add(sender, mail(uid))
    await lanes.wait(PATIENCE, "ann")
    assert (lanes.reached(), lanes.beyond, lanes.open, taking.begun) == (0, {3, 7}, True, [1, 3])
    taking.gates[1].set()
    lanes.pass_over(9)
    await lanes.wait(PATIENCE)
    assert (lanes.reached(), lanes.reached(), lanes.open, taking.begun) == (9, 0, False, [1, 3, 2])


async def test_an_error_is_raised_and_its_mail_is_not_passed(lanes: Lanes, taking: Taking) -> None:
    taking.fails.add(2)
    for uid, sender in ((1, "eve"), (2, "ann"), (3, "ann")):
        lanes.add(sender, mail(uid))
    with pytest.raises(StoreUnavailable):
        await lanes.wait(PATIENCE)
    assert (lanes.reached(), taking.begun) == (1, [1, 2])


async def test_of_many_mails_that_wait_no_more_is_held_than_fits(lanes: Lanes, taking: Taking) -> None:
    for uid in (1, 2, 3):
        lanes.add("eve", mail(uid, held=HALF))
    await lanes.wait(PATIENCE)
    assert taking.held == {1: True, 2: True, 3: False}
    lanes.add("eve", mail(4, held=HALF))
    await lanes.wait(PATIENCE)
    assert taking.held[4], "the others were let go"


async def test_large_mails_are_taken_singly_and_hold_up_no_small_one(lanes: Lanes, taking: Taking) -> None:
    taking.gates[1] = asyncio.Event()
    for uid, sender in ((1, "eve"), (2, "bob")):
        lanes.add(sender, mail(uid, size=LARGE + 1))
    lanes.add("ann", mail(3))
    await lanes.wait(PATIENCE, "ann")
    assert taking.begun == [1, 3]
    taking.gates[1].set()
    await lanes.wait(PATIENCE)
    assert taking.begun == [1, 3, 2]
