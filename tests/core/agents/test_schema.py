"""An agent as the model sees it: every kind of field as JSON schema, with what helps to fill it in."""

import enum
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator

from core.agents.fields import InputField, InvalidValue
from core.agents.registry import AgentRegistry, read_exposed
from core.agents.schema import APPROVAL_NOTE, INSTRUCTION, agent_spec
from core.agents.standard_agent import ApprovalDecision, StandardAgent
from core.agents.valet import valet, valet_of
from core.errors import ConfigError
from core.json_types import JsonObject
from onevalet.wiring.plugins import load_plugins
from tests.core.agents.mail import SendEmailAgent
from tests.core.builders import a_context


class Seat(enum.StrEnum):
    WINDOW = "window"
    AISLE = "aisle"


KINDS: list[tuple[Any, JsonObject, Any, Any]] = [
    (str, {"type": "string"}, "x", "x"),
    (int, {"type": "integer"}, "5", 5),
    (float, {"type": "number"}, " 2.5 ", 2.5),
    (bool, {"type": "boolean"}, "yes", True),
    (date, {"type": "string", "format": "date"}, "2027-01-31", date(2027, 1, 31)),
    (datetime, {"type": "string", "format": "date-time"}, "2027-01-31T15:00", datetime(2027, 1, 31, 15, 0)),  # noqa: DTZ001
    (Literal["one", "two"], {"type": "string", "enum": ["one", "two"]}, "two", "two"),
    (Seat, {"type": "string", "enum": ["window", "aisle"]}, "WINDOW", Seat.WINDOW),
    (list[str], {"type": "array", "items": {"type": "string"}}, "a, b", ["a", "b"]),
    (list[int], {"type": "array", "items": {"type": "integer"}}, "1,2", [1, 2]),
]


@pytest.mark.parametrize(("kind", "schema", "text", "value"), KINDS)
def test_each_field_type_has_valid_json_schema_and_parses_written_input(
    kind: Any, schema: JsonObject, text: str, value: Any
) -> None:
    @valet(name="Asks")
    class Asks(StandardAgent):
        """Ask."""

        what = InputField("What?", description="The thing", type=kind)

    parameters = agent_spec(Asks.valet).parameters
    properties = parameters["properties"]
    assert isinstance(properties, dict)
    assert properties["what"] == schema | {"description": "The thing"}
    Draft202012Validator.check_schema(parameters)
    assert Asks.what.check(text) == value
    assert Asks.what.from_json(Asks.what.to_json(value)) == value
    Draft202012Validator(parameters).validate({"what": Asks.what.to_json(value)})


def test_the_three_enhancements() -> None:
    @valet(name="SendEmailAgent")
    class SendEmailAgent(StandardAgent):
        """Send an email on the person's behalf."""

        recipient = InputField(
            "Who?", description="Recipient", validator=lambda v: "@" in v, validator_description="must contain @"
        )
        subject = InputField("Subject?", required=False, default="Hi")

        def needs_approval(self) -> bool:
            return True

    spec = agent_spec(SendEmailAgent.valet)
    properties = spec.parameters["properties"]
    assert isinstance(properties, dict)
    assert properties["recipient"] == {"type": "string", "description": "Recipient (must contain @)"}
    assert properties["subject"] == {"type": "string", "description": "Subject?", "default": "Hi"}
    assert spec.description.startswith("Send an email on the person's behalf.")
    assert spec.description.endswith(APPROVAL_NOTE)
    instruction = properties[INSTRUCTION]
    assert isinstance(instruction, dict)
    assert "Example:" in str(instruction["description"])
    assert spec.parameters["required"] == ["recipient"]


@pytest.mark.parametrize(("text", "valid"), [(None, True), (True, True), (False, False), ("no good", False)])
def test_what_a_validator_may_say(text: object, valid: bool) -> None:
    field = InputField("What?", validator=lambda value: text, validator_description="must be good")
    field.name = "what"
    if valid:
        assert field.check("x") == "x"
        return
    with pytest.raises(InvalidValue, match="no good" if text else "must be good"):
        field.check("x")


def test_a_validator_that_stumbles_refuses_the_value() -> None:
    field = InputField("How many?", validator=lambda value: int(value) > 0, validator_description="must be a number")
    with pytest.raises(InvalidValue, match="must be a number"):
        field.check("many")


def test_the_schema_version_changes_with_the_fields_and_with_nothing_else() -> None:
    def made(doc: str, **fields: InputField) -> str:
        agent: type[StandardAgent] = type("Agent", (StandardAgent,), {"__doc__": doc, **fields})
        return valet(name="Agent")(agent).valet.schema_version

    same = made("One.", a=InputField("A?"))
    assert made("Other words.", a=InputField("Another question?", description="x")) == same
    others = [
        made("One.", a=InputField("A?", required=False)),
        made("One.", a=InputField("A?", type=int)),
        made("One.", b=InputField("A?")),
        made("One.", a=InputField("A?"), b=InputField("B?")),
    ]
    assert len({same, *others}) == 5


class Mute(StandardAgent):
    pass


class Odd(StandardAgent):
    """Odd."""

    make_result = InputField("What?")


class Twin(StandardAgent):
    """Twin."""


def test_what_is_missing_or_wrong_is_told_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"test_schema\.py:\d+: the agent Mute needs a docstring"):
        valet()(Mute)
    with pytest.raises(ConfigError, match="cannot have a field named 'make_result'"):
        valet()(Odd)
    with pytest.raises(ConfigError, match="cannot name an agent"):
        valet(name="two words")(Twin)
    with pytest.raises(ConfigError, match="Two agents are named 'Same'"):
        AgentRegistry([valet(name="Same")(type("A", (Twin,), {"__doc__": "A."})), valet(name="Same")(Twin)])


def test_the_decorator_registers_nothing_and_a_bare_subclass_is_no_agent() -> None:
    marked: type[StandardAgent] = valet(name="Marked")(type("Marked", (StandardAgent,), {"__doc__": "Marked."}))
    assert valet_of(marked) is not None
    assert valet_of(type("Sub", (marked,), {})) is None
    assert valet_of("Marked") is None


def test_the_loader_collects_agents_from_the_plugins_namespaces() -> None:
    agents = load_plugins(["tests.core.agents.mail"]).agents
    assert [agent.valet.name for agent in agents] == ["SendEmailAgent"]


def test_an_operator_overrides_which_agents_are_offered(tmp_path: Path) -> None:
    path = tmp_path / "agent_registry.yaml"
    assert read_exposed(path) == {}
    path.write_text("agents:\n  SendEmailAgent:\n    expose_as_tool: false\n")
    registry = AgentRegistry(load_plugins(["tests.core.agents.mail"]).agents, read_exposed(path))
    assert registry.offered() == ()
    assert registry.get("SendEmailAgent") is not None
    path.write_text("agents:\n  Nobody:\n    expose_as_tool: true\n")
    with pytest.raises(ConfigError, match="there is no such agent"):
        AgentRegistry([], read_exposed(path))
    path.write_text("agents:\n  SendEmailAgent: true\n")
    with pytest.raises(ConfigError, match="expose_as_tool"):
        read_exposed(path)


@pytest.mark.parametrize(
    ("text", "meant"),
    [("approve", "approve"), ("Cancel.", "cancel"), ("EDIT", "edit"), ("disapprove", None), ("approve it", None)],
)
async def test_an_approval_is_only_read_from_exactly_one_of_the_options(text: str, meant: str | None) -> None:
    agent = SendEmailAgent(a_context(), never, values={"recipient": "ann@x.org"})
    assert await agent.parse_approval_async(text) == (ApprovalDecision(meant) if meant else None)


async def test_an_approval_request_shows_every_argument_in_full() -> None:
    agent = SendEmailAgent(a_context(), never, values={"recipient": "ann@x.org", "subject": "Hi"})
    request = agent.approval_request()
    assert request.details == {"recipient": "ann@x.org", "subject": "Hi"}
    assert request.action_summary == "Send an email (recipient: ann@x.org, subject: Hi)"


async def never(instruction: str, tools: object, system_prompt: str) -> str:
    """Think nothing."""
    raise AssertionError(instruction)
