"""The output of the recall benchmark in docs/measured/recall.md, between two marks."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from abilities.memory.config import MomexConfig
from workbench.benchmarks.recall_lives import LIVES
from workbench.benchmarks.recall_ways import Tally, misses, table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "recall.md"
BEGIN = "<!-- recall: written by `bin/uv run -m workbench.benchmarks.recall --write` -->"
END = "<!-- recall: end -->"
HALF = LIVES // 2
_UNSHOWN = ("no memory", "no bar")
"""Ends of the names of ways that only the terminal shows: recall never goes them."""


def write_page(tallies: dict[str, dict[str, Tally]], config: MomexConfig, seconds: float) -> None:
    """Replace the text between the marks by the tables."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{PAGE} has no marks to write between")
    text = "\n".join([BEGIN, "", *told(tallies, config, seconds), "", END])
    PAGE.write_text(before + text + after, encoding="utf-8")


def told(question_sets: dict[str, dict[str, Tally]], config: MomexConfig, seconds: float) -> list[str]:
    """Return the tables, with the conditions of the measurement."""
    embedder = config.embedding_model or "the embedded encoder"
    lines = [
        f"Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC at commit {_commit()}, {os.cpu_count()} cores, load"
        f" {os.getloadavg()[0]:.1f}, with {embedder}; {seconds / 60:.0f} minutes in all."
    ]
    for name, tallies in question_sets.items():
        count = len(next(iter(tallies.values())).outcomes)
        lines += [
            "",
            f"{count} questions, {name}; shares in per cent:",
            "",
            *table(_shown(tallies)),
            "",
            *_halves(tallies["fused"]),
        ]
        missed = misses(tallies["fused"])
        kinds = dict.fromkeys(miss.partition(" · ")[0] for miss in missed)
        each = ", ".join(f"{kind} {sum(miss.startswith(kind + ' · ') for miss in missed)}" for kind in kinds)
        lines += ["", f"Not first, or brought up although never told, of {count}: {each or 'none'}."]
    return lines


def _shown(tallies: dict[str, Tally]) -> dict[str, Tally]:
    return {name: tally for name, tally in tallies.items() if not name.endswith(_UNSHOWN)}


def _halves(fused: Tally) -> list[str]:
    out = []
    for name, lives in (("0 to 19", range(HALF)), ("20 to 39", range(HALF, LIVES))):
        part = fused.within(lives)
        if part.outcomes:
            unknown = 100 * part.answered("unknown")
            out.append(
                f"- Fused, lives {name}: hit@1 {100 * part.hit(1):.0f} %, hit@5 {100 * part.hit(5):.0f} %,"
                f" answered when unknown {unknown:.0f} %."
            )
    return out


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=PAGE.parent).stdout.strip()  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return "(none)"
