"""The loader: what plugin modules bring, and what is said when one is wrong."""

import pytest

from core.agents.registry import AgentRegistry
from core.errors import ConfigError
from core.turns.orchestrator import Orchestrator
from onevalet.wiring.plugins import load_plugins
from tests.onevalet.wiring.conftest import Write

TOOL = '''
from onevalet import tool

@tool
async def {name}() -> str:
    """Do it."""
    return "done"
'''


def test_what_ships_is_found() -> None:
    plugins = load_plugins(["agents"])
    assert {"current_time", "calculate"} <= {tool.name for tool in plugins.tools}
    assert plugins.orchestrator is Orchestrator


def test_a_group_in_full_has_to_be_one_of_the_tools_agents_or_servers() -> None:
    plugins = load_plugins(["agents"])
    plugins.check_groups(("consents", "travel", "linear"), ("linear__",))
    with pytest.raises(ConfigError, match=r"^ONEVALET_LOOP_GROUPS_IN_FULL names 'travle'; the groups are .*, travel\."):
        plugins.check_groups(("travel", "travle"))


def test_a_name_that_begins_like_the_tools_of_a_server_is_refused(write: Write) -> None:
    write("plugserver.py", TOOL.format(name="linear__close"))
    plugins = load_plugins(["plugserver"])
    plugins.check_prefixes(["home__"])
    with pytest.raises(ConfigError, match=r"^'linear__close' begins with 'linear__', as other tools do; rename one"):
        plugins.check_prefixes(["home__", "linear__"])


REPLACING = """
from onevalet import StandardAgent, tool, valet

@tool({word})
async def calculate(expression: str) -> str:
    \"""Work out an expression.\"""
    return "42"

@valet({word})
class FlightSearchAgent(StandardAgent):
    \"""Search for flights.\"""
"""


def test_a_tool_and_an_agent_stand_in_place_of_those_that_ship(write: Write) -> None:
    write("plugown.py", REPLACING.format(word="replaces=True"))
    for names in (["agents", "plugown"], ["plugown", "agents"]):
        plugins = load_plugins(names)
        tool = plugins.tools.get("calculate")
        assert tool is not None
        assert tool.fn.__module__ == "plugown"
        [agent] = [agent for agent in AgentRegistry(plugins.agents) if agent.name == "FlightSearchAgent"]
        assert agent.agent.__module__ == "plugown"


def test_a_name_of_what_ships_is_not_taken_unawares(write: Write) -> None:
    write("plugtool.py", REPLACING.format(word=""))
    with pytest.raises(ConfigError, match=r"Two tools are named 'calculate': .* replaces=True"):
        load_plugins(["agents", "plugtool"])
    with pytest.raises(ConfigError, match=r"Two agents are named 'FlightSearchAgent': .* replaces=True"):
        AgentRegistry(load_plugins(["agents"]).agents + load_plugins(["plugtool"]).agents)


def test_a_package_is_taken_with_its_direct_submodules_only(write: Write) -> None:
    write("plug1/__init__.py", TOOL.format(name="top"))
    write("plug1/below.py", TOOL.format(name="below"))
    write("plug1/deep/__init__.py", "")
    write("plug1/deep/deeper.py", TOOL.format(name="deeper"))
    assert {tool.name for tool in load_plugins(["plug1"]).tools} == {"top", "below"}


def test_hooks_rules_and_an_orchestrator_are_collected_too(write: Write) -> None:
    write(
        "plug2.py",
        "from onevalet import Hook, Orchestrator, Rule\n"
        "class Quiet(Hook): pass\n"
        "class Strict(Rule): pass\n"
        "class Ours(Orchestrator): pass\n"
        "hooks = quiet = Quiet()\n"
        "strict = Strict()\n",
    )
    plugins = load_plugins(["plug2"])
    assert [type(hook).__name__ for hook in plugins.hooks] == ["Quiet", "Strict"]
    assert plugins.orchestrator.__name__ == "Ours"


def test_a_tool_that_two_modules_hold_is_one(write: Write) -> None:
    write("plug3.py", TOOL.format(name="shared"))
    write("plug4.py", "from plug3 import shared\n" + TOOL.format(name="own"))
    assert len(load_plugins(["plug3", "plug4"]).tools) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import nowhere_at_all\n", "plug5.py:1: it imports 'nowhere_at_all', which is missing."),
        ("x = 1\nraise ValueError('odd')\n", "plug5.py:2: ValueError: odd."),
        ("def broken(:\n", "plug5.py:1: "),
        (
            "from onevalet import tool\n\n@tool\nasync def bare(x: int) -> int:\n    return x\n",
            "plug5.py:3: the tool bare needs a docstring",
        ),
        (
            'from onevalet import tool\n\n@tool\nasync def loose(x):\n    """Do."""\n',
            "plug5.py:3: the tool loose has an un-annotated parameter; write `x: str`",
        ),
    ],
)
def test_mistakes_are_told_with_the_file_and_the_line(write: Write, text: str, sentence: str) -> None:
    write("plug5.py", text)
    with pytest.raises(ConfigError) as caught:
        load_plugins(["plug5"])
    assert sentence in str(caught.value)


def test_two_tools_of_one_name_are_told_with_both_places(write: Write) -> None:
    write("plug6.py", TOOL.format(name="same"))
    write("plug7.py", TOOL.format(name="same"))
    with pytest.raises(ConfigError, match=r"plug6\.py:4 and .*plug7\.py:4; rename"):
        load_plugins(["plug6", "plug7"])


def test_a_module_that_is_not_there_is_named_with_the_setting() -> None:
    with pytest.raises(ConfigError, match=r"ONEVALET_PLUGINS names 'plug_none\.below'"):
        load_plugins(["plug_none.below"])


def test_two_orchestrators_are_refused(write: Write) -> None:
    write(
        "plug8.py",
        "from onevalet import Orchestrator\nclass A(Orchestrator): pass\nclass B(Orchestrator): pass\n",
    )
    with pytest.raises(ConfigError, match=r"plug8\.A and plug8\.B; keep one"):
        load_plugins(["plug8"])
