"""`StandardAgent`: the base of agents, which collect fields, may ask, and may need approval; and their options."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, ClassVar

from core.agents.fields import Field, InputField, OutputField, fields_of, values_of
from core.journal.types import Effect
from core.json_types import Json, JsonObject, canonical_hash
from core.language.catalogue import gettext, in_a_row, labelled
from core.tools.context import ToolExecutionContext
from core.tools.tool import AnyTool, Risk


class AgentStatus(StrEnum):
    """The status of an agent."""

    INITIALIZING = "INITIALIZING"
    RUNNING = "RUNNING"
    WAITING_FOR_INPUT = "WAITING_FOR_INPUT"
    WAITING_FOR_APPROVAL = "WAITING_FOR_APPROVAL"
    WAITING_FOR_ACCOUNT = "WAITING_FOR_ACCOUNT"
    """It waits for its person to connect an account; a tool's call waits in the same way."""
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    CANCELLED = "CANCELLED"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The result of a state handler.

    `raw_message` is the text for the model, or the question if the status says that the agent waits. `outputs` are
    the values of the output fields.
    """

    status: AgentStatus
    raw_message: str = ""
    outputs: JsonObject = field(default_factory=dict)


class ApprovalDecision(StrEnum):
    """A person's answer to a request for approval."""

    APPROVE = "approve"
    EDIT = "edit"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """An agent's request for a person's consent, in full.

    The person may always approve and cancel; without "edit" in `options`, or without `allow_modification`, nothing can
    be changed. `timeout_minutes`: None for the operator's default. `in_words` names fields that `details` say in full,
    in words: the card shows neither their values nor a form for them.
    """

    agent_name: str
    action_summary: str
    details: JsonObject
    options: tuple[str, ...] = ("approve", "edit", "cancel")
    timeout_minutes: int | None = None
    allow_modification: bool = True
    in_words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if unknown := [option for option in self.options if option not in tuple(ApprovalDecision)]:
            raise ValueError(f"{unknown[0]!r} is no option of an approval; there are {', '.join(ApprovalDecision)}.")

    @property
    def editable(self) -> bool:
        """Return whether the person may change the action."""
        return self.allow_modification and ApprovalDecision.EDIT in self.options


type Thinking = Callable[[str, "Sequence[AnyTool | type[StandardAgent]]", str], Awaitable[str]]
"""The small ReAct loop of an agent: from an instruction, tools and a system prompt to the loop's answer."""


class StandardAgent:
    """An agent. Override `on_running`, or set `tools` for a small ReAct loop of its own.

    The fields are attributes. `state` is stored while the agent waits: JSON only. When a person has answered, the
    handler starts from its beginning; steps that it did through `think` are replayed, not repeated.
    """

    valet: ClassVar["Valet"]
    tools: ClassVar[Sequence["AnyTool | type[StandardAgent]"]] = ()
    """The tools of its own loop."""
    system_prompt: ClassVar[str] = ""
    """The system prompt of its own loop; empty for the agent's description."""

    def __init__(
        self, context: ToolExecutionContext, thinking: Thinking, *, values: Mapping[str, Any], instruction: str = ""
    ) -> None:
        self.context = context
        self.task_instruction = instruction
        self.status = AgentStatus.INITIALIZING
        self.state: JsonObject = {}
        self.must_ask = False
        """An agent with `asks_itself` asks for consent before any action: its call may not be the person's."""
        self._thinking = thinking
        values_of(self).update(values)

    @property
    def tenant_id(self) -> str:
        """Return the person for whom the agent works."""
        return self.context.tenant_id

    async def fill_in(self) -> Mapping[str, Any]:
        """Return values of fields that follow from known fields, by name, such as the subject of an answer.

        Called before any question: the values replace the model's, and the person sees them on cards.
        """
        return {}

    async def ask_first(self) -> Mapping[str, str]:
        """Return questions about further fields that must be known, by name; called when the required fields are known.

        They are asked before the request for consent. A field that is asked for loses its value. The person consents to
        the fields as they are set here.
        """
        return {}

    def needs_approval(self) -> bool:
        """Return whether the person must consent before the agent runs; called when all fields are known."""
        return False

    async def on_asking(self) -> None:
        """Prepare its request for consent, on an instance with the fields as they now are, which is not kept."""

    def approval_request(self) -> ApprovalRequest:
        """Return the request for consent, built from the fields unless overridden."""
        name = self.valet.name
        inputs = fields_of(type(self), InputField)
        details = {field.name: field.to_json(getattr(self, field.name)) for field in inputs.values()}
        values = in_a_row([labelled(field.label, str(details[field.name])) for field in inputs.values()])
        summary = gettext(self.valet.description.splitlines()[0].rstrip("."))
        summary = gettext("{action} ({details})", action=summary, details=values) if values else summary
        return ApprovalRequest(name, summary, details)

    async def parse_approval_async(self, text: str) -> ApprovalDecision | None:
        """Parse an answer to its approval request; None unless it is exactly one of the options."""
        answer = text.strip().strip(".!").casefold()
        return ApprovalDecision(answer) if answer in tuple(ApprovalDecision) else None

    async def on_initializing(self, msg: str) -> AgentResult | None:
        """Begin, with all fields known. Return a result to end or wait here, None to run."""
        return None

    async def on_running(self, msg: str) -> AgentResult:
        """Do the work. `msg` is the model's instruction, or the person's answer."""
        return self.make_result(raw_message=await self.think(self._task()))

    async def on_waiting_for_input(self, msg: str) -> AgentResult:
        """Continue with the person's answer to a handler's question."""
        return await self.on_running(msg)

    async def on_waiting_for_approval(self, msg: str) -> AgentResult:
        """Continue when the person has approved."""
        return await self.on_running(msg)

    async def on_paused(self, msg: str) -> AgentResult:
        """Continue after a pause."""
        return await self.on_running(msg)

    async def on_cancelled(self) -> None:
        """Handle being dropped by the person, or after waiting too long."""

    async def on_error(self, error: Exception) -> AgentResult | None:
        """Handle an error of a handler. Return a result for the model in place of the general text, or None."""
        return None

    def make_result(
        self, status: AgentStatus = AgentStatus.COMPLETED, raw_message: str = "", **outputs: Any
    ) -> AgentResult:
        """Return a handler's result with the output fields that were set."""
        declared: Mapping[str, Field] = fields_of(type(self), OutputField)
        values = {name: getattr(self, name) for name in declared} | outputs
        written = {
            name: declared[name].to_json(value) if name in declared else value
            for name, value in values.items()
            if value is not None
        }
        return AgentResult(AgentStatus(status), raw_message, written)

    async def think(self, instruction: str, *, tools: Sequence["AnyTool | type[StandardAgent]"] | None = None) -> str:
        """Return the answer of a small ReAct loop with the agent's own tools to an instruction."""
        chosen = self.tools if tools is None else tools
        return await self._thinking(instruction, chosen, self.system_prompt or self.valet.description)

    def _task(self) -> str:
        inputs = fields_of(type(self), InputField)
        lines = [f"{field.words}: {field.to_json(getattr(self, field.name))}" for field in inputs.values()]
        return "\n".join(part for part in (self.task_instruction, *lines) if part) or "Do your work now."


@dataclass(frozen=True, slots=True)
class Valet:
    """An agent's class, and its options from `@valet`.

    `effect` decides whether a run with an unknown end is repeated (`core.journal.types.Effect`). `timeout` is in
    seconds, None for the loop's default; `ttl` is how long the agent may wait for a person, None for the pool's
    default. `accounts` are its needs of the person's accounts, as a tool's: it waits until an account is connected.
    `addresses` are fields with web addresses: the model may fill in only addresses that somebody named. With
    `asks_itself` an agent first works out its action, without an effect, and then asks by `WAITING_FOR_APPROVAL` if
    `must_ask` says so: nobody is asked before there is something to show. `standing` are the fields that may vary
    under a consent in advance; None if each run needs consent. With `hands_on` it passes on the person's words, and
    does not run once the model has read third parties' text. With `replaces` it takes the place of any other tool or
    agent of its name, such as one that ships.
    """

    name: str
    description: str
    agent: type[StandardAgent]
    expose_as_tool: bool = True
    effect: Effect = Effect.ONCE
    risk: Risk = ""
    group: str | None = None
    accounts: Sequence[str] = ()
    timeout: float | None = None
    ttl: timedelta | None = None
    addresses: Sequence[str] = ()
    asks_itself: bool = False
    standing: Sequence[str] | None = None
    hands_on: bool = False
    replaces: bool = False

    @property
    def inputs(self) -> dict[str, InputField]:
        """Return the input fields by name, in the order of their declaration."""
        return dict(fields_of(self.agent, InputField))

    @property
    def place(self) -> str:
        """Return the file and line of the agent's class."""
        return place_of_class(self.agent)

    @property
    def schema_version(self) -> str:
        """Return a digest of the fields' names and types, which differs once a waiting agent's fields have changed."""
        shape: list[Json] = [[field.name, field.required, field.schema()] for field in self.inputs.values()]
        return canonical_hash(shape)[:16]


def place_of_class(agent: type) -> str:
    """Return "file:line" of a class, for messages to its author."""
    try:
        return f"{inspect.getsourcefile(agent)}:{inspect.getsourcelines(agent)[1]}"
    except (OSError, TypeError):
        return f"{agent.__module__}.{agent.__qualname__}"
