"""The tools that need nothing but themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.arithmetic import calculate
from agents.clock import current_time
from onevalet import ToolRetry
from tests.core.builders import a_context


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.1 + 0.2", "0.3"),
        ("2 ** 10", "1024"),
        ("2^10", "1024"),
        ("(3 + 4) * -2.5", "-17.5"),
        ("7 // 2 + 7 % 4", "6"),
        ("-7 // 2", "-4"),
        ("-7 % 4", "1"),
        ("round(10 / 3, 2)", "3.33"),
        ("sqrt(16) + max(1, 2) + abs(-3)", "9"),
        ("123456789 * 987654321", "121932631112635269"),
        ("floor(2.7) + ceil(2.1)", "5"),
        ("17.5% * 260", "45.5"),
        ("20% of 45", "9"),
        ("260 * 19 % * 2", "98.8"),
        ("120 + 20% of 120", "144"),
        ("20%", "0.2"),
        ("17 % 5", "2"),
        ("17%5 + 2", "4"),
        ("17 % (5)", "2"),
    ],
)
async def test_calculate_is_exact(expression: str, value: str) -> None:
    assert await calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        *("", "1/0", "9**9**9", "2**100000", "__import__('os')", "a.b", "True", "1,2", "'x'*9", "(" * 90),
        *("100 + 20%", "260 - 10 %", "20% - 5", "(1 + 5%)", "5%%", "% of 3"),
        *("0/0", "1+" * 300 + "1", "sqrt(-1)", "sqrt()", "min()", "1e999999*1e999999", "x"),
    ],
)
async def test_calculate_refuses_the_rest_in_a_sentence(expression: str) -> None:
    with pytest.raises(ToolRetry):
        await calculate(expression)


@given(st.text(alphabet="0123456789+-*/().%^ espqrtmaxin,", max_size=40))
async def test_calculate_answers_or_refuses_any_text(expression: str) -> None:
    try:
        answer = await calculate(expression)
    except ToolRetry as refused:
        answer = str(refused)
    assert answer


async def test_current_time_is_the_persons() -> None:
    answer = await current_time(a_context(timezone="Asia/Kathmandu"))
    assert answer.startswith("It is ")
    assert answer.endswith("in Asia/Kathmandu (UTC+05:45).")
    assert (await current_time(a_context(), "America/St_Johns")).count("UTC-0") == 1


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "", "Europe"])
async def test_current_time_refuses_a_timezone_that_is_none(name: str) -> None:
    with pytest.raises(ToolRetry):
        await current_time(a_context(timezone=name), name)
