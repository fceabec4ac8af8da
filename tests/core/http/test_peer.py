"""A peer has an allowance of bytes, pieces and seconds; one that exceeds it is left alone, and others have turns."""

import asyncio

import pytest

from core.http.peer import MAX_PAUSE, Allowance, Hearing, LeftAlone, Pauses, PeerExceeded, Slots

ALLOWANCE = Allowance(size=1000, pieces=10, seconds=5.0)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_is_within_the_allowance_passes() -> None:
    hearing = Hearing(ALLOWANCE)
    for _ in range(10):
        hearing.count(100, 1)
    assert hearing.size_left == 0


@pytest.mark.parametrize(("size", "pieces", "what"), [(1001, 0, "bytes"), (0, 11, "pieces")])
def test_more_than_that_is_refused_with_the_host(size: int, pieces: int, what: str) -> None:
    with pytest.raises(PeerExceeded, match=what) as raised:
        Hearing(ALLOWANCE, host="mail.example").count(size, pieces)
    assert raised.value.host == "mail.example"


def test_a_drip_is_refused_when_its_seconds_are_over() -> None:
    clock = Clock()
    hearing = Hearing(ALLOWANCE, clock=clock)
    clock.now = 4.0
    hearing.count(1)
    assert hearing.seconds_left == 1.0
    clock.now = 5.1
    with pytest.raises(PeerExceeded, match="time"):
        hearing.count(1)
    assert hearing.seconds_left == 0.0


def test_commands_count_for_their_connection_and_its_person() -> None:
    person = Hearing(Allowance(1500, 100, 60.0), host="mail.example")
    first, second = (Hearing(ALLOWANCE, within=Hearing(ALLOWANCE, within=person)) for _ in range(2))
    first.count(900)
    assert second.size_left == 600
    with pytest.raises(PeerExceeded) as raised:
        second.count(700)
    assert raised.value.host == "mail.example"


async def test_others_get_their_turns_while_a_peer_floods() -> None:
    hearing, turns = Hearing(Allowance(1 << 30, 1 << 30, 60.0)), 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    for _ in range(10_000):
        await hearing.heard(1, 1)
    task.cancel()
    assert turns >= 100


async def test_one_person_takes_no_slot_from_another() -> None:
    slots, order = Slots(2, each=1), list[str]()
    ends = asyncio.Event()

    async def hold(person: str) -> None:
        async with slots.of(person):
            order.append(person)
            await ends.wait()

    tasks = [asyncio.create_task(hold(person)) for person in ("ann", "ann", "ann", "ben")]
    for _ in range(10):
        await asyncio.sleep(0)
    assert order == ["ann", "ben"]
    ends.set()
    await asyncio.gather(*tasks)
    assert sorted(order) == ["ann", "ann", "ann", "ben"]


async def test_a_slot_that_was_waited_for_in_vain_is_no_slot_held() -> None:
    slots, entered = Slots(1), list[str]()

    async def enter(person: str) -> None:
        async with slots.of(person):
            entered.append(person)

    async with slots.of("ann"):
        waiting = asyncio.create_task(enter("ben"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await enter("ben")
    assert entered == ["ben"]


def test_a_peer_that_exceeds_it_is_left_alone_for_longer_each_time() -> None:
    clock = Clock()
    pauses = Pauses("test", clock=clock)
    pauses.check("ann", "mail.example", host="mail.example")
    waited = []
    for _ in range(12):
        waited.append(pauses.exceeded("ann", "mail.example"))
        with pytest.raises(LeftAlone, match=r"mail\.example"):
            pauses.check("ann", "mail.example", host="mail.example")
        pauses.check("ben", "mail.example", host="mail.example")
        clock.now += waited[-1]
        pauses.check("ann", "mail.example", host="mail.example")
    assert waited[:3] == [2.0, 4.0, 8.0]
    assert waited[-1] == MAX_PAUSE
    pauses.kept_to_it("ann", "mail.example")
    assert pauses.exceeded("ann", "mail.example") == 2.0
    assert pauses.exceeded("ann", "mail.example") == 4.0
    clock.now += 4.0 + MAX_PAUSE + 1
    assert pauses.exceeded("ann", "mail.example") == 2.0  # it was at peace for long


def test_a_conversation_that_began_before_a_pause_does_not_end_it() -> None:
    pauses = Pauses("test", clock=Clock())
    pauses.exceeded("ann", "mail.example")
    pauses.kept_to_it("ann", "mail.example")
    with pytest.raises(LeftAlone):
        pauses.check("ann", "mail.example", host="mail.example")
    assert pauses.exceeded("ann", "mail.example") == 4.0
