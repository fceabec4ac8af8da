"""The measuring of scale in small: memory's work counts, and pages quote the figures of the stored results."""

import re
from pathlib import Path

import pytest

from tests.forker import Forker
from tests.shipping.harness import read
from tests.spine.texts import make_people
from workbench.benchmarks.report import quotes
from workbench.benchmarks.scale import report
from workbench.benchmarks.scale.cost import PARTS
from workbench.benchmarks.scale.installation import running
from workbench.benchmarks.scale.load import People
from workbench.benchmarks.scale.people import MEMORIES, fill
from workbench.benchmarks.whole.model import TELLING
from workbench.benchmarks.whole.model import read as read_talk
from workbench.simulator.config import TwilioConfig

COSTS = dict.fromkeys(PARTS, 1.0)
TOLD = {"rate": 10.0, "cost": COSTS, "load": 0.5}


@pytest.mark.slow
@pytest.mark.needs("pgbouncer")
@pytest.mark.xdist_group("processes")
async def test_a_burst_ends_when_memory_has_read_what_was_said(tmp_path: Path, forker: Forker) -> None:
    everyone = make_people(2 * TELLING)
    async with running(tmp_path / "few", everyone, forker, None, workers=1, clients=60) as installation:
        system = installation.system
        admin = await system.connect()
        try:
            await fill(system.postgres.url, len(everyone), everyone, TwilioConfig().number)
            filled = len(everyone) * MEMORIES
            assert await admin.fetchval("select count(*) from memories natural join memory_versions") == filled
            load = await People(installation, everyone).burst(len(everyone))
            assert load.sustained < load.rate
            assert min(load.cost[part] for part in PARTS) > 0
            kept = await admin.fetchval("select count(*) from memories where text like 'I water the plants%'")
            assert kept == 2
            assert await admin.fetchval("select count(*) from profile_jobs") == 0
            read = [call for call in system.model.calls if read_talk(call)]
            assert len(read) == kept
        finally:
            await admin.close()


def test_the_measured_part_of_the_page_is_what_the_stored_results_make() -> None:
    text = report.PAGE.read_text(encoding="utf-8")
    assert report.renewed(text, report.stored()) == text


def test_the_page_shows_what_is_lean_beside_what_is_shipped() -> None:
    stored = report.stored() | {"settings": "as shipped", "lean": TOLD}
    page = report.page(stored)
    assert "as shipped" in page
    lean = " | ".join(["1.0"] * len(PARTS))
    assert f"| without memory and profile | {lean} | {len(PARTS)}.0 | 0.5 |" in page
    assert re.search(r"\| part \| cores at the peak \| lean \| share \|", page)
    assert re.search(r"^\| in all \| [\d.]+ \| 3\.5 \| \|$", page, re.MULTILINE)


@pytest.mark.parametrize("page", sorted({quote.page for quote in quotes.QUOTES}))
def test_a_page_quotes_the_stored_results(page: str) -> None:
    text = read(page)
    assert quotes.renewed(page, text, quotes.measured()) == text, "bin/uv run -m workbench.benchmarks --mark"


def test_a_quote_follows_its_figure_and_stays_if_that_is_unknown() -> None:
    page = "docs/deploy.md"
    text, nothing = read(page), quotes.Measured({}, {})
    assert quotes.renewed(page, text, nothing) == text
    measured = {"start-worker": {"ours": {"median": 43.21}}, "idle": {"ours": {"median": 2.1}}}
    measured["whole-memory-worker"] = {"ours": {"median": 700.0}, "lean": {"median": 123.0}}
    told = quotes.renewed(page, text, quotes.Measured({"some": {"metrics": measured}}, {}))
    assert {"43.2 s of CPU", "most 3 % of", "saves 580 MB"} == {
        words for words in ("43.2 s of CPU", "most 3 % of", "saves 580 MB") if words in told
    }
