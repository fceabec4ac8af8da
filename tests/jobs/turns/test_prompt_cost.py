"""A hello stays cheap with everything that can be offered, counted on what arrives at the model."""

from pathlib import Path

import pytest

from tests.jobs.turns.prompt_cost import everything, parts_of, tokens_of
from tests.scripted_model import text

MOST = 3000

pytestmark = pytest.mark.xdist_group("model")


async def test_a_hello_with_every_tool_and_skill_is_below_3000_tokens(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with everything(database_url, redis_url, tmp_path, monkeypatch, lambda _: text("Hi")) as person:
        await person.say("hello")
        [asked] = person.model.calls
    assert tokens_of(asked) < MOST, parts_of(asked)
    names = (
        "SendEmailAgent",
        "create_event",
        "jira__list_boards",
        "list_files",
        "undo_last",
        "web_search",
        "report-19",
    )
    assert all(name in str(asked.body["tools"]) for name in names), "everything can be reached"
