"""What a peer may cost everybody else, and its own person: the bars of T22, and whether they were met."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

MOST_TIMES = 2.0
"""How many times as long as without the peer another's answer may take, in the median."""
FLOOR = 1.0
"""Seconds below which it is as it should be, whatever it was before."""
MOST_GROWTH = 50.0
"""Megabytes by which all processes may grow, beyond what the same takes with a peer that is as it should be."""
MOST_STILL = 0.1
"""Seconds for which an event loop may stand still because of a peer, by the processor time that it took."""
MOST_SLOW = 2.0
"""How many times more processor time the same may take on a busy machine."""


@dataclass(frozen=True, slots=True)
class Late:
    """A tick of a loop: by how many seconds it was late, and how many of the processor the process used meanwhile.

    `where`: what the loop's thread was seen to do.
    """

    late: float
    used: float
    where: str = ""

    @property
    def ours(self) -> float:
        """Return for how long it was late because of the process itself, not of the machine."""
        return min(self.late, self.used)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of one client with one peer. `others`: how long each text of somebody else took.

    `told`: what the peer's person was told; None where that was nothing. `grown`: megabytes, and `held` the most that
    all processes held; `grew`: which of them grew. `errors`: lines of the log that nobody foresaw. `betrayed`: a
    credential came to another host.
    """

    client: str
    manner: str
    others: Sequence[float]
    told: str | None
    grown: float
    late: Sequence[Late] = ()
    met: bool = True
    errors: Sequence[str] = ()
    betrayed: bool = False
    slowness: float = 1.0
    """How many times longer than on a quiet machine work took meanwhile."""
    seconds: float = field(default=0.0, compare=False)
    held: float = 0.0
    grew: str = ""

    @property
    def others_median(self) -> float:
        return statistics.median(self.others) if self.others else float("inf")

    @property
    def still(self) -> float:
        """Return the longest time for which a loop stood still by itself."""
        return max((tick.ours for tick in self.late), default=0.0)

    @property
    def stood_at(self) -> str:
        """Return what that loop did meanwhile."""
        return max(self.late, key=lambda tick: tick.ours).where if self.late else ""


def judge(seen: Seen, calm: Seen) -> list[str]:
    """Return each bar that was missed, in words. `calm`: the same client with a peer that is as it should be."""
    bounds = max(MOST_TIMES * calm.others_median, FLOOR * seen.slowness)
    grown = _grown(seen, calm)
    still = max(MOST_STILL, calm.still) * min(seen.slowness, MOST_SLOW)
    missed = [
        (seen.met, "the peer was not reached, so nothing is proven"),
        (seen.others_median <= bounds, f"others were answered in {seen.others_median:.2f} s, not in {bounds:.2f} s"),
        (grown <= MOST_GROWTH, f"grew by {grown:.0f} MB: {seen.grew}"),
        (seen.still <= still, f"the loop stood still for {seen.still * 1000:.0f} ms: {seen.stood_at}"),
        (bool(seen.told), "its person was told nothing"),
        (not seen.errors, f"errors that nobody foresaw: {[*seen.errors][:2]}"),
        (not seen.betrayed, "a credential came to another host"),
    ]
    return [f"{seen.client}, {seen.manner}: {words}" for well, words in missed if not well]


def _grown(seen: Seen, calm: Seen) -> float:
    """Return by how many megabytes a peer made all processes grow.

    What begins and ends by need, such as a process that reads files, is there beside a calm peer or begins beside a
    hostile one: whichever it is, what was held at once beside a calm one is no growth.
    """
    if seen is calm:
        return 0.0
    return min(seen.grown - max(0.0, calm.grown), seen.held - calm.held)
