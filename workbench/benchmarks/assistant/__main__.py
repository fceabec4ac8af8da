"""Measure a model as the assistant, and print the table: see the package."""

import argparse
import asyncio
import json
import logging
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import structlog

from workbench.benchmarks.assistant.report import as_json, misses, table
from workbench.benchmarks.assistant.running import Run, bench
from workbench.benchmarks.assistant.scenarios import Scenario, scenarios

_MAX_FAILED = 3
"""Turns in a row that may fail."""


class ModelKeepsFailing(Exception):
    """The model answers nothing: a measurement would only take time."""


async def measure(model: str, chosen: list[Scenario], at_once: int, **settings: object) -> list[Run]:
    """Run the requests, some at a time, and return their results, in order.

    Raises `ModelKeepsFailing`.
    """
    room, failed = asyncio.Semaphore(at_once), 0

    async def one(scenario: Scenario) -> Run:
        nonlocal failed
        async with room:
            run = await assistant.run(scenario)
        failed = failed + 1 if run.failure else 0
        if failed == _MAX_FAILED:
            raise ModelKeepsFailing(f"{model} failed {failed} times in a row, the last time with {run.failure}.")
        return run

    async with bench(model, **settings) as assistant:
        try:
            async with asyncio.TaskGroup() as group:
                runs = [group.create_task(one(scenario)) for scenario in chosen]
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
    return [run.result() for run in runs]


def main() -> None:
    """Read the options, measure, print, and store the details if a file is named."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.assistant")
    parser.add_argument("--model", required=True, help="litellm's name; its provider's key is in the environment")
    parser.add_argument("--base", default="", help="an OpenAI-shaped server, such as http://127.0.0.1:11434/v1")
    parser.add_argument("--only", default="", help="comma-separated: languages, kinds, or names such as note.de")
    parser.add_argument("--at-once", type=int, default=1, help="requests in flight; the times are true for 1")
    parser.add_argument("--json", type=Path, help="a file for all details")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    if options.base:
        os.environ["OPENAI_API_BASE"] = options.base
        os.environ.setdefault("OPENAI_API_KEY", "none")
    wanted = {part for part in options.only.split(",") if part}
    chosen = [one for one in scenarios() if not wanted or wanted & {one.language, one.kind, one.id, one.name}]
    if not chosen:
        parser.error("--only names nothing that is there")
    try:
        runs = asyncio.run(measure(options.model, chosen, options.at_once))
    except ModelKeepsFailing as error:
        sys.exit(str(error))
    when = datetime.now(UTC).date().isoformat()
    if options.json:
        options.json.write_text(json.dumps(as_json(options.model, when, runs), ensure_ascii=False, indent=1) + "\n")
    sys.stdout.write(f"{options.model}, {when}\n\n{table(runs)}\n\n{misses(runs) or 'Every request was met.'}\n")


if __name__ == "__main__":
    main()
