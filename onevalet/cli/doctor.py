"""`doctor`: a table of the configuration, reachability, last messages in and out, and necessary fixes."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict

from core.db.database import Database
from core.errors import ConfigError
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import reach
from onevalet.settings import Settings
from onevalet.wiring.workbench import wired_to_simulator
from operations.doctor.every import all_probes
from operations.doctor.examine import examine
from operations.doctor.repair import repair
from operations.doctor.types import Area, Finding, Installation, State

_MARKS = {State.RED: "FIX", State.ADVICE: "tip", State.GOOD: "ok "}
AT_ONCE = 4
"""Number of database connections that the probes share."""


async def print_checks(settings: Settings, *, as_json: bool, fix: bool = False) -> bool:
    """Print the findings, red rows first; return whether nothing needs fixing. `fix`: repair the providers first."""
    findings = await run_checks(settings, fix=fix)
    if as_json:
        say_json([asdict(finding) | {"ok": finding.ok} for finding in findings])
    else:
        say("\n".join(_lines(findings)))
    return all(finding.ok for finding in findings)


async def run_checks(settings: Settings, *, fix: bool = False) -> list[Finding]:
    """Run all checks, after the repairs of `fix`; never raise."""
    try:
        reached = reach(settings)
    except ConfigError as error:
        missing = Finding(Area.SYSTEM, "system", State.RED, "not found", str(error))
        return [missing, *await _examine(Installation(settings), fix)]
    if reached.simulator_url:
        # A running `dev` reports its own port: this command's PORT may differ.
        settings = settings.model_copy(update={"public_url": settings.public_url or reached.gateway_url})
        try:
            settings = wired_to_simulator(settings, reached.simulator_url)
        except ConfigError as error:
            again = f"{error} Then start `dev` again."
            return [Finding(Area.SYSTEM, "simulator", State.RED, "not as these settings say", again)]
    async with _opened(reached.database_url) as database:
        return await _examine(Installation(settings, database, reached.redis_url), fix)


async def _examine(installation: Installation, fix: bool) -> list[Finding]:
    repaired = await repair(installation) if fix else []
    return [*repaired, *await examine(installation, all_probes())]


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Database]:
    database = Database(url, patience=3, size=AT_ONCE, name="onevalet doctor")
    try:
        yield database
    finally:
        await database.close()


def _lines(findings: Sequence[Finding]) -> list[str]:
    """Return the output: red findings first, then the rest by area, in aligned columns."""
    width = max((len(finding.what) for finding in findings), default=0)
    red = [finding for finding in findings if not finding.ok]
    lines = [f"{len(red)} to fix:", *_group(red, width)] if red else ["Nothing to fix."]
    for area in Area:
        if others := [finding for finding in findings if finding.ok and finding.area is area]:
            lines += ["", f"{area}:", *_group(others, width)]
    return lines


def _group(findings: Sequence[Finding], width: int) -> list[str]:
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.state]}  {finding.what:<{width}}  {finding.detail}")
        if finding.fix:
            lines.append(f"     {'':<{width}}  -> {finding.fix}")
    return lines
