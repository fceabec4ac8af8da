"""The executors of plugins: found by their names; what is wrong with one is told at start, in one sentence."""

from collections.abc import Sequence

import pytest

from abilities.tasks.opening import executors_of
from abilities.tasks.types import ActionExecutor
from core.errors import ConfigError
from onevalet.wiring.plugin_checks import FoundClasses
from onevalet.wiring.plugins import plugin_values
from tests.onevalet.wiring.conftest import Write
from tests.onevalet.wiring.conftest import write as write

EXECUTOR = """from onevalet import ActionExecutor, ActionResult
class Pipeline(ActionExecutor):
    name = "{name}"
    async def execute(self, context):
        return ActionResult(True, "done")
"""
WRONG = {
    "an executor that does nothing": (
        "class Mow(ActionExecutor):\n    name = 'mow'\n",
        "plugmistake.Mow has no execute; write `async def execute(self, context)`.",
    ),
    "an executor that wants to be given something": (
        "class Mow(ActionExecutor):\n    name = 'mow'\n    def __init__(self, garden): ...\n"
        "    async def execute(self, context): ...\n",
        "plugmistake.Mow cannot be made: TypeError: ",
    ),
}


def found(*modules: str) -> Sequence[ActionExecutor]:
    """Return the executors that modules bring."""
    return executors_of(FoundClasses(plugin_values(modules)))


def test_executors_are_found_by_name_and_duplicate_names_are_refused(write: Write) -> None:
    write("plug9.py", EXECUTOR.format(name="email_pipeline"))
    write("plug10.py", EXECUTOR.format(name="email_pipeline"))
    write("plug11.py", EXECUTOR.format(name=""))
    assert [executor.name for executor in found("plug9")] == ["email_pipeline"]
    for names in (["plug9", "plug10"], ["plug11"]):
        with pytest.raises(ConfigError, match=r"The executor plug1\d\.Pipeline cannot be used"):
            found(*names)


def test_the_executors_that_ship_are_found() -> None:
    shipped = {"briefing", "event_reminder", "follow_up", "tell", "tell_group"}
    assert {executor.name for executor in found("agents")} == shipped


@pytest.mark.parametrize(("text", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_an_executor_is_one_sentence(write: Write, text: str, sentence: str) -> None:
    write("plugmistake.py", f"from onevalet import *\n{text}")
    with pytest.raises(ConfigError) as caught:
        found("plugmistake")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
