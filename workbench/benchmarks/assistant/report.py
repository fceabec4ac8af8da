"""A model's results, as a table for people and as JSON."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict

from core.json_types import JsonObject
from workbench.benchmarks.assistant.running import Run


def table(runs: Sequence[Run]) -> str:
    """Return the figures of all, of each kind and of each language as a Markdown table."""
    lines = [
        "| requests | n | right first tool | right arguments | model calls | tokens in / out | money | p50 s | p95 s |",
        "|---|---|---|---|---|---|---|---|---|",
        _row("all", runs),
    ]
    for part in (lambda run: run.scenario.kind, lambda run: run.scenario.language):
        lines += [_row(name, group) for name, group in _grouped(runs, part)]
    return "\n".join(lines)


def misses(runs: Iterable[Run]) -> str:
    """Return a line for each unmet request: the call made, or the reason for the turn's failure."""
    return "\n".join(
        f"- {run.scenario.name} “{run.scenario.text}”: {_instead(run)}"
        for run in runs
        if not run.judged.right_arguments
    )


def as_json(model: str, when: str, runs: Sequence[Run]) -> JsonObject:
    """Return everything that was measured."""
    return {
        "model": model,
        "date": when,
        "requests": [
            {
                "name": run.scenario.name,
                "kind": run.scenario.kind,
                "right_tool": run.judged.right_tool,
                "right_arguments": run.judged.right_arguments,
                "called": [{"name": call.name, "arguments": call.arguments} for call in run.called],
                "reply": run.reply,
                "failure": run.failure,
                "model_calls": run.model_calls,
                "usage": asdict(run.usage),
                "seconds": round(run.seconds, 3),
            }
            for run in runs
        ],
    }


def _row(name: str, runs: Sequence[Run]) -> str:
    seconds = sorted(run.seconds for run in runs)
    costs = [run.usage.cost for run in runs if run.usage.cost is not None]
    cells = [
        name,
        str(len(runs)),
        _share([run.judged.right_tool for run in runs]),
        _share([run.judged.right_arguments for run in runs]),
        f"{statistics.mean(run.model_calls for run in runs):.2f}",
        f"{_mean([run.usage.input_tokens for run in runs])} / {_mean([run.usage.output_tokens for run in runs])}",
        f"${statistics.mean(costs):.5f}" if costs else "unknown",
        f"{statistics.median(seconds):.2f}",
        f"{seconds[int(len(seconds) * 0.95)]:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def _grouped(runs: Sequence[Run], part: Callable[[Run], str]) -> Iterable[tuple[str, list[Run]]]:
    for name in dict.fromkeys(map(part, runs)):
        yield name, [run for run in runs if part(run) == name]


def _mean(tokens: Sequence[int]) -> int:
    return round(statistics.mean(tokens))


def _share(good: Sequence[bool]) -> str:
    return f"{100 * sum(good) / len(good):.0f} %"


def _instead(run: Run) -> str:
    if run.failure:
        return f"failed ({run.failure})"
    called = "; ".join(f"{call.name} {call.arguments}" for call in run.called)
    return called or f"no call: {run.reply[:100]}"
