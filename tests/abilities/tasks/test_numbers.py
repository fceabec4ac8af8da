"""A task's numbers: those that no database takes are asked for again."""

from math import inf, nan

import pytest

from abilities.tasks.scheduling import ScheduleTask
from core.agents.field_collection import collect
from core.agents.fields import InputField
from core.json_types import is_finite


@pytest.mark.parametrize("given", [inf, nan, "inf"])
def test_a_task_every_infinity_minutes_is_asked_for_again(given: float | str) -> None:
    inputs = {name: value for name, value in vars(ScheduleTask).items() if isinstance(value, InputField)}
    assert "every_minutes" in inputs
    collected = collect(inputs, {}, {"what": "x", "every_minutes": given, "remind_only": True})
    assert "every_minutes" in collected.wrong
    assert is_finite(collected.fields)
