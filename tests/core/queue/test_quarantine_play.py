"""Promise 5, played through: deadly texts and slow ones among others, on processes that die and come back."""

import random
from dataclasses import dataclass, field

import pytest

from core.journal.types import Lease
from core.queue.quarantine import QuarantineMode, quarantine_waits
from core.turns.store import TurnStore
from core.turns.stored import BegunTurn
from jobs.turns.results import is_poison
from tests.core.harness import LEASE, Store
from tests.core.queue.test_quarantine import later, said

pytestmark = pytest.mark.slow

_TICK = 0.25
_AWAY = 3.0
"""Seconds until a dead process is back."""


_FORKED = 0.75
"""Seconds until a private process is there."""


@dataclass(slots=True)
class Process:
    """One worker: what it runs since when, by the played time."""

    name: str
    store: TurnStore
    slots: int = 16
    back: float = 0.0
    runs: list[tuple[float, Lease, BegunTurn]] = field(default_factory=list)


@dataclass(slots=True)
class Play:
    """Texts by what they do: `kills` after so many seconds, or takes as long as `takes` says and is answered."""

    store: Store
    kills: dict[str, float]
    takes: dict[str, float]
    supervised: bool
    now: float = 0.0
    private: list[Process] = field(default_factory=list)
    deaths: int = 0
    set_aside: set[str] = field(default_factory=set)
    answered: dict[str, float] = field(default_factory=dict)

    async def run(self, processes: int, arrivals: dict[str, float], until: float) -> None:
        """Let time pass in ticks."""
        mode = QuarantineMode.LEAVE if self.supervised else QuarantineMode.TAKE
        workers = [Process(f"w{number}", self._turns(mode)) for number in range(processes)]
        coming = sorted(arrivals.items(), key=lambda pair: pair[1])
        while self.now < until and len(self.answered) + len(self.set_aside) < len(arrivals):
            while coming and coming[0][1] <= self.now:
                text, _ = coming.pop(0)
                await self.store.say(text, sender=f"+1555{sum(text.encode()):03}{len(coming):04}")
            if self.supervised and len(self.private) < 2 and await quarantine_waits(self.store.database):
                self.private.append(Process(f"p{self.now}", self._turns(QuarantineMode.ONLY), 1, self.now + _FORKED))
            for worker in [*workers, *self.private]:
                await self._go_on(worker)
            self.now += _TICK
            await later(self.store, _TICK)

    def _turns(self, quarantine: QuarantineMode) -> TurnStore:
        return TurnStore(self.store.database, self.store.make_id, LEASE, (), quarantine)

    async def _go_on(self, worker: Process) -> None:
        if self.now < worker.back:
            return
        while len(worker.runs) < worker.slots and (lease := await worker.store.claim(None, worker.name)):
            turn = await worker.store.begin(lease)
            assert turn is not None
            if is_poison(turn):
                self.set_aside.add(said(turn))
                await self.store.finish(lease, turn, "set aside", state="poison")
            else:
                worker.runs.append((self.now, lease, turn))
        if any(self.now - began >= self.kills.get(said(turn), 1e9) for began, _, turn in worker.runs):
            await self.store.turns.end_leases(worker.name)
            self.deaths += 1
            worker.name, worker.back, worker.runs = f"{worker.name}+", self.now + _AWAY, []
            if worker in self.private:
                self.private.remove(worker)
        for run in list(worker.runs):
            began, lease, turn = run
            if said(turn) not in self.kills and self.now - began >= self.takes.get(said(turn), 0.5):
                worker.runs.remove(run)
                self.answered[said(turn)] = self.now
                await self.store.finish(lease, turn, "hi")


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("seed", range(2))
async def test_eight_deadly_texts_are_set_aside_and_slow_texts_are_answered(
    store: Store, seed: int, processes: int
) -> None:
    chance = random.Random(seed)
    kills = {f"deadly {number}": chance.choice((0.0, 0.25, 1.0, 2.0, 6.0)) for number in range(8)}
    others = {f"other {number}": chance.random() * 40 for number in range(40)}
    arrivals = {text: chance.random() * 4 for text in kills} | {"slow": chance.random()} | others
    play = Play(store, kills, {"slow": 20.0}, supervised=True)
    await play.run(processes, arrivals, until=240)
    assert play.set_aside == set(kills)
    assert play.answered.keys() == {"slow", *others}
    assert play.deaths <= 3 * len(kills) + 10, "only the first few took others along"


@pytest.mark.parametrize("supervised", [True, False])
@pytest.mark.parametrize("seconds", [1.0, 6.0])
async def test_what_takes_long_to_kill_is_told_from_those_who_come_all_the_time(
    store: Store, seconds: float, supervised: bool
) -> None:
    others = {f"other {number}": number * 0.5 for number in range(160)}
    play = Play(store, {"deadly": seconds}, dict.fromkeys(others, 1.0), supervised)
    await play.run(2, {"deadly": 0.0} | others, until=180)
    assert play.set_aside == {"deadly"}
    assert play.answered.keys() == set(others)
    assert max(play.answered[text] - others[text] for text in others) < 15
