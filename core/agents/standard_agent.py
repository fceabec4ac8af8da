"""`StandardAgent`: what an agent that collects fields, may ask and may need approval is derived from."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, ClassVar

from core.agents.fields import Field, InputField, OutputField, fields_of, values_of
from core.journal.types import Effect
from core.json_types import Json, JsonObject, canonical_hash
from core.tools.context import ToolExecutionContext
from core.tools.tool import AnyTool, Risk


class AgentStatus(StrEnum):
    """How far an agent has come."""

    INITIALIZING = "INITIALIZING"
    RUNNING = "RUNNING"
    WAITING_FOR_INPUT = "WAITING_FOR_INPUT"
    WAITING_FOR_APPROVAL = "WAITING_FOR_APPROVAL"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    CANCELLED = "CANCELLED"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What a state handler gives back.

    `raw_message` is what the model is told, or the question where the status says that the agent waits. `outputs`
    are the values of the output fields.
    """

    status: AgentStatus
    raw_message: str = ""
    outputs: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What a person is asked to consent to, in full."""

    agent_name: str
    action_summary: str
    details: JsonObject
    options: tuple[str, ...] = ("approve", "edit", "cancel")
    timeout_minutes: int = 30
    allow_modification: bool = True


class ApprovalDecision(StrEnum):
    """What a person says to an approval."""

    APPROVE = "approve"
    EDIT = "edit"
    CANCEL = "cancel"


type Thinking = Callable[[str, "Sequence[AnyTool | type[StandardAgent]]", str], Awaitable[str]]
"""The small ReAct loop of an agent: from an instruction, tools and a system prompt to the loop's answer."""


class StandardAgent:
    """An agent. Override `on_running`, or give it `tools` and let its own small ReAct loop work.

    Its fields are attributes. `state` is kept while it waits: JSON only. When a person has answered, the handler
    begins anew; what it did through `think` is not done again.
    """

    valet: ClassVar["Valet"]
    tools: ClassVar[Sequence["AnyTool | type[StandardAgent]"]] = ()
    """What its own loop may use."""
    system_prompt: ClassVar[str] = ""
    """What its own loop is told of its work; empty for its description."""

    def __init__(
        self, context: ToolExecutionContext, thinking: Thinking, *, values: Mapping[str, Any], instruction: str = ""
    ) -> None:
        self.context = context
        self.task_instruction = instruction
        self.status = AgentStatus.INITIALIZING
        self.state: JsonObject = {}
        self._thinking = thinking
        values_of(self).update(values)

    @property
    def tenant_id(self) -> str:
        """Name the person for whom it works."""
        return self.context.tenant_id

    def needs_approval(self) -> bool:
        """Return whether the person must consent before it runs; asked when all fields are known."""
        return False

    def approval_request(self) -> ApprovalRequest:
        """Return what is to be consented to; made from the fields unless overridden."""
        name = self.valet.name
        inputs = fields_of(type(self), InputField)
        details = {one.name: one.to_json(getattr(self, one.name)) for one in inputs.values()}
        told = ", ".join(f"{one.label}: {details[one.name]}" for one in inputs.values())
        summary = self.valet.description.splitlines()[0].rstrip(".")
        return ApprovalRequest(name, f"{summary} ({told})" if told else summary, details)

    async def parse_approval_async(self, text: str) -> ApprovalDecision | None:
        """Read an answer to its approval request; None where it is not exactly one of the options."""
        said = text.strip().strip(".!").casefold()
        return ApprovalDecision(said) if said in tuple(ApprovalDecision) else None

    async def on_initializing(self, msg: str) -> AgentResult | None:
        """Begin, all fields known. A result ends or stops it here; None lets it run."""
        return None

    async def on_running(self, msg: str) -> AgentResult:
        """Do the work. `msg` is the model's instruction, or what the person answered."""
        return self.make_result(raw_message=await self.think(self._task()))

    async def on_waiting_for_input(self, msg: str) -> AgentResult:
        """Take the person's answer to a question that a handler asked."""
        return await self.on_running(msg)

    async def on_waiting_for_approval(self, msg: str) -> AgentResult:
        """Go on when the person has approved."""
        return await self.on_running(msg)

    async def on_paused(self, msg: str) -> AgentResult:
        """Go on after a pause."""
        return await self.on_running(msg)

    async def on_cancelled(self) -> None:
        """See that the person dropped it, or that it waited too long."""

    async def on_error(self, error: Exception) -> AgentResult | None:
        """See an error of a handler. A result is what the model is told instead of a general sentence."""
        return None

    def make_result(
        self, status: AgentStatus = AgentStatus.COMPLETED, raw_message: str = "", **outputs: Any
    ) -> AgentResult:
        """Make what a handler gives back; output fields that were set come with it."""
        declared: Mapping[str, Field] = fields_of(type(self), OutputField)
        values = {name: getattr(self, name) for name in declared} | outputs
        told = {
            name: declared[name].to_json(value) if name in declared else value
            for name, value in values.items()
            if value is not None
        }
        return AgentResult(AgentStatus(status), raw_message, told)

    async def think(self, instruction: str, *, tools: Sequence["AnyTool | type[StandardAgent]"] | None = None) -> str:
        """Work on an instruction in a small ReAct loop with its own tools; return the loop's answer."""
        chosen = self.tools if tools is None else tools
        return await self._thinking(instruction, chosen, self.system_prompt or self.valet.description)

    def _task(self) -> str:
        inputs = fields_of(type(self), InputField)
        lines = [f"{one.label}: {one.to_json(getattr(self, one.name))}" for one in inputs.values()]
        return "\n".join(part for part in (self.task_instruction, *lines) if part) or "Do your work now."


@dataclass(frozen=True, slots=True)
class Valet:
    """An agent's class, and its options from `@valet`.

    `effect` decides what happens to a run whose end is not known (`core.journal.types.Effect`). `timeout` is in
    seconds, None for the loop's default; `ttl` is how long the agent may wait for a person, None for the pool's
    default. An agent with `needs_account` is offered to people who have connected an account of that service.
    """

    name: str
    description: str
    agent: type[StandardAgent]
    expose_as_tool: bool = True
    effect: Effect = Effect.ONCE
    risk: Risk = ""
    group: str = ""
    needs_account: str = ""
    timeout: float | None = None
    ttl: timedelta | None = None

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
        """Return a digest of the fields' names and types, which tells that a waiting agent's fields have changed."""
        shape: list[Json] = [[field.name, field.required, field.schema()] for field in self.inputs.values()]
        return canonical_hash(shape)[:16]


def place_of_class(agent: type) -> str:
    """Return "file:line" of a class, for messages to its author."""
    try:
        return f"{inspect.getsourcefile(agent)}:{inspect.getsourcelines(agent)[1]}"
    except (OSError, TypeError):
        return f"{agent.__module__}.{agent.__qualname__}"
