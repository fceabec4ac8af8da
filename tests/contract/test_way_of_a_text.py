"""The way of a text from `receive` to `send`: how many files it leads through, and that CONTRIBUTING tells it."""

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import aiohttp
import pytest

from core.db.database import Database
from core.turns.orchestrator import Orchestrator
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.code_that_runs import functions_that_run, lines_of, report_of
from tests.contract.delivery_harness import open_delivery, work
from tests.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough

ROOT = Path(__file__).parents[2]
PURE = {"channels/sms/verify.py", "channels/sms/parse.py", "notify/sms/render.py"}
"""What is called on the way and returns at once: plain values in, plain values out."""
FRAME = ("channels/http/", "core/db/", "providers/sms/", "tests/", "workbench/simulator/")
"""The server before `receive`, Twilio's SDK after `send`, and the connection that every statement goes through."""
MAX_NAMED, MAX_NAMED_LINES = 22, 3_192
"""Of the files that CONTRIBUTING names: the way as somebody reads it."""
MAX_FILES_THAT_RUN, MAX_FUNCTIONS_THAT_RUN = 92, 532
"""Of all that the process runs for one text: what was reached, so that it does not grow again."""
FUNCTIONS = ("receive_messages", "open_turn", "finish_turn", "claim_outbound", "begin_rendered", "end_delivery")


def product_files_on_the_stack() -> list[str]:
    """Return the files of ours that led to the caller, outermost first, without those of the frame."""
    files: list[str] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
        if name and not name.startswith((*FRAME, ".")):
            files.insert(0, name)
        frame = frame.f_back
    return files


@pytest.fixture
def crossings(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Return the files on the stack at each moment at which the text or its answer goes out of the process."""
    seen: dict[str, list[str]] = {}
    fetch, request = Database._fetch, aiohttp.ClientSession._request

    async def watched_fetch(self: Database, statement: str, *arguments: Any) -> Any:
        for function in FUNCTIONS:
            if f"{function}(" in statement:
                seen.setdefault(function, product_files_on_the_stack())
        return await fetch(self, statement, *arguments)

    async def watched_request(self: aiohttp.ClientSession, method: str, url: Any, **options: Any) -> Any:
        for end in ("chat/completions", "Messages.json"):
            if str(url).endswith(end):
                seen.setdefault(end, product_files_on_the_stack())
        return await request(self, method, url, **options)

    monkeypatch.setattr(Database, "_fetch", watched_fetch)
    monkeypatch.setattr(aiohttp.ClientSession, "_request", watched_request)
    return seen


async def test_a_text_passes_few_files_and_all_are_told(
    database_url: str, orchestrator: Orchestrator, crossings: dict[str, list[str]]
) -> None:
    async with open_delivery(HARNESSES["sms"], database_url) as delivery:
        await delivery.channel.said(marked("Lunch on Friday?"))
        await work(delivery.store, delivery.runner, orchestrator)
        assert delivery.channel.bubbles()[-1].text == f"echo: {marked('Lunch on Friday?')}"
    assert crossings.keys() == {*FUNCTIONS, "chat/completions", "Messages.json"}
    leading = {file for files in crossings.values() for file in files}
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## The way of a message")[1].split("\n## ")[0]
    named = set(re.findall(r"`([\w/]+/\w+\.\w+)`", section)) - {"tests/contract/test_way_of_a_text.py"}
    assert leading | PURE <= named, sorted((leading | PURE) - named)
    assert len(named) <= MAX_NAMED, sorted(named)
    assert sum(map(lines_of, named)) <= MAX_NAMED_LINES, {file: lines_of(file) for file in sorted(named)}


async def test_a_text_runs_code_in_few_files(
    database_url: str, orchestrator: Orchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.turns.beginnings.NEWS_HOLD", PATIENCE)  # on a busy machine, news are asked for again
    async with open_delivery(HARNESSES["sms"], database_url) as delivery:
        await delivery.channel.said(marked("Hello"))  # what is done once is done
        await work(delivery.store, delivery.runner, orchestrator)
        with functions_that_run() as ran:
            await delivery.channel.said(marked("Lunch on Friday?"))
            await work(delivery.store, delivery.runner, orchestrator)
        assert delivery.channel.bubbles()[-1].text == f"echo: {marked('Lunch on Friday?')}"
    shown = report_of(ran)
    assert {"channels/sms/receive.py", "core/loop/loop.py", "notify/sms/send.py"} <= ran.keys()
    assert len(ran) <= MAX_FILES_THAT_RUN, shown
    assert sum(map(len, ran.values())) <= MAX_FUNCTIONS_THAT_RUN, shown
