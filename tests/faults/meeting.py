"""Sends a process to its point, and waits until it has met it."""

import asyncio
import signal
from contextlib import suppress

from tests.eventually import eventually
from tests.faults.harness import Harness
from tests.faults.members import Member
from tests.patience import patience

MET_WITHIN = 90.0


def strike_at(point: str, name: str, drop: str) -> dict[str, str]:
    """Return what a process is told that is to die at a point. `name`: the plan's; `drop`: the write to leave out."""
    return {"FAULTS_POINT": point, "FAULTS_NAME": name, "FAULTS_DROP": drop}


def has_met(harness: Harness, name: str) -> bool:
    """Return whether a process has met the point of the plan with this name."""
    return (harness.folder / f"met-{name}").exists()


async def until_met(harness: Harness, point: str, name: str, member: Member) -> None:
    """Wait until a process died, or lost its answer and went on to the end of what it was doing. `name`: the plan's."""
    assert member.process is not None
    if point.endswith("unknown"):
        with suppress(AssertionError):
            await eventually(lambda: has_met(harness, name), within=MET_WITHIN)
            await asyncio.sleep(0.5)
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(patience(MET_WITHIN)):
            ended = await member.process.wait()
            assert ended == -signal.SIGKILL, f"{member.name} ended by {ended} at {point}: {_last_words(member)}"


def _last_words(member: Member) -> str:
    """Return the last lines of a process's log."""
    return "\n".join(member.log.read_text(errors="replace").splitlines()[-20:])
