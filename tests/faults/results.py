"""What a fault came to: numbers as they came out, the invariants, and whether its bar was met."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.faults.checker import Evidence, Finding, check, gather, without
from tests.faults.harness import Harness
from tests.faults.journals import read
from tests.faults.phone_driver import Saying
from tests.faults.script import CHANNELS

BEGINS = "begins"
"""What the journal of strikes says where one begins; each is noted again when it is over."""
KEPT_WITHIN = 90.0
QUIET_WITHIN = 240.0


@dataclass(slots=True)
class Result:
    """One test's outcome. `missed`: each bar that was not met, in words; `untested`: each part that cannot run here."""

    name: str
    fault: str
    bar: str
    seconds: float = 0.0
    numbers: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    untested: list[str] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        """Return "missed", "untested" (a part did not run, and what ran was met), or "met"."""
        return "missed" if not self.well else "untested" if self.untested else "met"

    @property
    def well(self) -> bool:
        """Return whether every bar that was tested was met and no invariant broken."""
        return not self.missed and not any(finding.broken for finding in self.findings)

    def require(self, holds: bool, words: str) -> None:
        """Note a bar that is not met."""
        if not holds:
            self.missed.append(words)


@asynccontextmanager
async def timed(result: Result) -> AsyncIterator[Result]:
    """Take the time of the block."""
    began = time.monotonic()
    try:
        yield result
    finally:
        result.seconds = time.monotonic() - began


async def deliver(
    harness: Harness, sayings: Sequence[Saying], result: Result, *, leaving: frozenset[str] = frozenset()
) -> None:
    """Let people write, and wait until all is kept, answered and quiet; who leaves in the middle need not be heard."""
    await harness.written(harness.people_write(sayings))
    await arrive(harness, sayings, result, leaving=leaving)


async def arrive(
    harness: Harness, sayings: Sequence[Saying], result: Result, *, leaving: frozenset[str] = frozenset()
) -> None:
    """Wait until all that was written is kept, answered and quiet."""
    must = {saying.token for saying in sayings if saying.person not in leaving}
    missing = await harness.until_kept(must, KEPT_WITHIN)
    result.numbers["texts"] = str(len(sayings))
    result.require(not missing, f"{len(missing)} texts did not come in: {sorted(missing)[:3]}")
    await settle(harness, result)


async def settle(harness: Harness, result: Result) -> None:
    """Wait until nothing is open any more."""
    try:
        result.numbers["quiet after"] = f"{await harness.until_quiet(QUIET_WITHIN):.1f} s"
    except AssertionError:
        result.missed.append(f"it was not quiet within {QUIET_WITHIN:.0f} s")
        for member in harness.members:  # their logs then say what they wait for
            member.show_waits()
    await asyncio.sleep(0.3)  # an answer too many would be on its way


async def conclude(
    harness: Harness, sayings: Sequence[Saying], result: Result, *, excused: frozenset[str] = frozenset()
) -> Evidence:
    """Check all invariants and add the numbers that every test tells."""
    evidence = without(await gather(harness.folder, harness.url), harness.spoilt)
    result.findings = check(evidence, excused)
    ours = {saying.token for saying in sayings} - excused
    answered = {token for send in evidence.sends if send.accepted for token in send.tokens}
    aside = {row["token"] for row in evidence.inbound if row["turn_state"] in ("poison", "failed")}
    lost = ours - answered - aside
    result.numbers |= {
        "answered": str(len(ours & answered)),
        "lost": str(len(lost)),
        "set aside and told": str(len(ours & aside - answered)),
        "ambiguous sends": ", ".join(_rates(evidence)),
        "acknowledged": _percentiles(
            [arrival.milliseconds for arrival in evidence.arrivals if 200 <= arrival.status < 300], "ms"
        ),
    }
    result.require(not lost, f"{len(lost)} texts were never answered: {sorted(lost)[:3]}")
    return evidence


def _rates(evidence: Evidence) -> list[str]:
    """Return for each channel how many sends were ambiguous, of how many that its provider took.

    A mail server keeps no journal of what it took.
    """
    taken = Counter(send.channel for send in evidence.sends if send.accepted)
    return [
        f"{name} {count} of {taken[name]} ({count / max(taken[name], 1):.1%})"
        for name, count in sorted(evidence.ambiguities.items())
        if name in CHANNELS
    ]


def recoveries(
    harness: Harness, evidence: Evidence, kinds: frozenset[str], *, within: float = float("inf")
) -> tuple[list[float], int]:
    """Return for each strike of these kinds the seconds from its end to the next work that was done.

    Those during which the next strike began, sooner than `within` after the return, are counted apart.
    """
    seconds: list[float] = []
    interrupted = 0
    strikes = read(harness.folder / "strikes.jsonl")
    for number, strike in enumerate(strikes):
        if strike["what"] in kinds:
            back = float(str(strike["back"]))
            after = next((at for at in evidence.work if at > back), None)
            again = next(
                (float(str(strike["at"])) for strike in strikes[number:] if strike["what"] == BEGINS), float("inf")
            )
            if after is None or (again < after and again - back < within):
                interrupted += 1
            else:
                seconds.append(after - back)
    return seconds, interrupted


def show_recoveries(seconds: Sequence[float]) -> str:
    """Return their spread."""
    return _percentiles([value * 1000 for value in seconds], "ms")


def _percentiles(values: Sequence[float], unit: str) -> str:
    if not values:
        return "none"
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return f"p50 {at(0.5):.0f} {unit}, p99 {at(0.99):.0f} {unit}, most {ordered[-1]:.0f} {unit} ({len(ordered)})"
