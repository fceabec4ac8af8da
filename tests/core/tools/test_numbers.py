"""Numbers that no database takes: refused where a model's words are read, and before any statement is sent."""

import json
from math import inf, nan

import asyncpg
import pytest

from core.agents.fields import InputField, InvalidValue
from core.db.database import Database
from core.json_types import read_json
from core.llm.types import ModelAnswer, ToolCall
from core.tools.tool import tool
from tests.core.agents.harness import CONFIG
from tests.core.builders import run_loop, says, wants

NO_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999")
WORDS = ("inf", "-Infinity", "nan", "NaN", "1e999")


@tool(effect="once")
def count(number: float) -> str:
    """Count to a number."""
    return f"counted to {number}"


@pytest.mark.parametrize("written", [*NO_NUMBERS, *(json.dumps(word) for word in WORDS)])
async def test_a_number_that_is_none_is_an_error_to_the_model(written: str) -> None:
    arguments = f'{{"number": {written}}}'
    result, model = await run_loop([wants(("count", arguments)), says("sorry")], [count])
    assert result.response == "sorry"
    (refusal,) = model.told()
    assert refusal.startswith("The arguments of count are not")


async def test_a_number_that_is_none_is_found_at_any_depth() -> None:
    @tool(effect="once")
    def keep(values: dict[str, list[object]]) -> str:
        """Keep values."""
        return "kept"

    answer = ModelAnswer(tool_calls=(ToolCall("1", "keep", '{"values": {"a": [1, {"b": Infinity}]}}'),))
    _, model = await run_loop([answer, says("sorry")], [keep], config=CONFIG)
    assert "not valid JSON" in model.told()[0]


def test_arguments_nested_too_deep_are_an_error_of_value() -> None:
    with pytest.raises(ValueError, match="deep"):
        read_json("[" * 200_000)


@pytest.mark.parametrize("given", [inf, -inf, nan, *WORDS])
def test_an_agents_number_must_be_finite(given: object) -> None:
    with pytest.raises(InvalidValue):
        InputField("How many?", type=float).check(given)
    assert InputField("How many?", type=float).check("1e3") == 1000.0


@pytest.mark.parametrize("value", [inf, nan])
async def test_a_number_that_is_none_never_reaches_the_database(database_url: str, value: float) -> None:
    database = Database(database_url)
    try:
        with pytest.raises(asyncpg.DataError) as refused:
            await database.call("select $1::jsonb", {"every_minutes": value})
        assert refused.value.__cause__ is not None, "Postgres itself refused it"
        assert isinstance(refused.value.__cause__, ValueError)
    finally:
        await database.close()
