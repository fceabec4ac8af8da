"""Run a turn again from its journal: tools return recorded results, so the run has no outside effects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from pydantic import BaseModel

from core.agents.schema import agent_spec
from core.agents.standard_agent import Valet
from core.errors import ModelRejected
from core.hooks.hooks import ALLOWED, Decision, HookContext, Messages, PlannedCall, Rule, Verdict
from core.hooks.judge import ALL_WELL, Judge, Judgement, Trail
from core.journal.types import Outcome, StepKey, StepKind, StepRecord, StepState
from core.json_types import Json, JsonObject, canonical_hash
from core.llm.types import ModelAnswer, ModelLayer, ModelRequest, ToolCall
from core.loop.control import InterruptSignal, TurnMessage
from core.tools.arguments import read_call
from core.tools.context import ToolExecutionContext
from core.tools.results import ToolEnd
from core.tools.schema import Signature
from core.tools.tool import AnyTool, Tool

NOT_RECORDED = "This call is not in the record, so it has no result: nothing was run."


@dataclass(slots=True)
class RecordedModel:
    """Answer from the record, in order. Implements `core.llm.types.ModelClient`."""

    rows: Iterable[StepRecord]
    layers: Sequence[ModelLayer] = (ModelLayer("recorded"),)
    _answers: Iterator[StepRecord] = field(init=False)

    def __post_init__(self) -> None:
        self._answers = iter(sorted(_own(self.rows, StepKind.MODEL), key=lambda row: row.key.step))

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the next answer, for any request. Raises `ModelRejected` at the end of the record."""
        row = next(self._answers, None)
        if row is None:
            raise ModelRejected("the record has no further answer")
        return ModelAnswer.from_json(row.result, row.usage)

    async def close(self) -> None: ...


class Recording:
    """The results of a record. Each is returned once: for its own call, else for a call with the same arguments."""

    def __init__(self, rows: Iterable[StepRecord]) -> None:
        self._left = {row.key: row for row in _own(rows, StepKind.TOOL, StepKind.AGENT)}

    def take(self, key: StepKey, name: str, digest: str) -> StepRecord | None:
        """Return the result of a call, None if there is none."""
        same = [recorded for recorded, row in self._left.items() if (row.name, row.arguments_hash) == (name, digest)]
        if not same:
            return None
        return self._left.pop(key if key in same else same[0])


@dataclass(frozen=True, slots=True)
class RecordedTool(Tool[..., object]):
    """A tool as the model sees it, with recorded results."""

    recording: Recording | None = None

    async def run_call(
        self, key: StepKey, call: ToolCall, arguments: Mapping[str, object], context: ToolExecutionContext
    ) -> ToolEnd:
        """Return the recorded result, and how it ended then."""
        digest = canonical_hash(read_call(call, self).arguments)
        row = self.recording.take(key, self.name, digest) if self.recording else None
        if row is None:
            return ToolEnd(NOT_RECORDED, Outcome.ERROR)
        return ToolEnd(str(row.result.get("text", "")), row.outcome, str(row.result.get("told", "")))


@dataclass(frozen=True, slots=True)
class RecordedAgent(RecordedTool):
    """An agent as the model sees it, with recorded results."""

    def parse(self, arguments: Json) -> dict[str, object]:
        """Accept the arguments unchecked, as the agent would."""
        return dict(arguments) if isinstance(arguments, dict) else {}


def recorded_tools(tools: Iterable[AnyTool], rows: Iterable[StepRecord]) -> list[AnyTool]:
    """Return the tools with recorded results in place of real tools: offered to all people, approved, immediate."""
    recording = Recording(rows)
    changed: dict[str, object] = {"recording": recording, "needs_approval": False, "accounts": ()}
    return [RecordedTool(**{attr.name: getattr(tool, attr.name) for attr in fields(Tool)} | changed) for tool in tools]


def recorded_agents(valets: Iterable[Valet], rows: Iterable[StepRecord]) -> list[AnyTool]:
    """Return agents as tools with recorded results, so that no person is asked."""
    recording = Recording(rows)
    return [
        RecordedAgent(
            name=valet.name,
            description=(spec := agent_spec(valet)).description,
            fn=valet.agent.on_running,
            signature=Signature(BaseModel, spec.parameters, frozenset(), {}),
            effect=valet.effect,
            group=valet.group,
            recording=recording,
        )
        for valet in valets
    ]


class RecordedJudge(Judge):
    """Repeat the recorded judgements of the final answers."""

    priority = 20

    def __init__(self, rows: Iterable[StepRecord]) -> None:
        self._said = {row.key: row for row in _own(rows, StepKind.JUDGE)}

    async def rate_answer(
        self, context: HookContext, messages: Messages, trail: Trail, answer: ModelAnswer
    ) -> Judgement:
        """Return the recorded judgement of this step."""
        row = self._said.get(StepKey(context.step, 1))
        return Judgement.from_record(row) if row else ALL_WELL


class ResultsOnly(Judge):
    """A judge that rates results alone: an answer that it had asked again is not in the record."""

    def __init__(self, judge: Judge) -> None:
        self.priority = judge.priority
        self._judge = judge

    async def rate_results(self, context: HookContext, trail: Trail) -> Judgement:
        """Return the judge's own rating."""
        return await self._judge.rate_results(context, trail)


class RecordedConsent(Rule):
    """A rule with its own denials, whose request for approval is granted; it stores nothing that it sees."""

    def __init__(self, rule: Rule) -> None:
        self.priority = rule.priority
        self._rule = rule

    async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
        """Return the rule's denials; grant its requests for approval."""
        verdict = await self._rule.evaluate(context, call)
        return verdict if verdict.decision is Decision.DENY else ALLOWED


class RecordedControl:
    """Replay messages that came in while the turn ran, before the same steps. Implements `TurnControl`."""

    def __init__(self, messages: Mapping[int, Sequence[TurnMessage]]) -> None:
        self._messages = messages
        self._step = 0
        self.signal = InterruptSignal()

    async def stopped(self) -> str | None:
        return None

    async def absorb(self) -> Sequence[TurnMessage]:
        self._step += 1
        return self._messages.get(self._step - 1, ())


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two runs of a turn."""

    step: str
    what: str
    recorded: Json
    now: Json

    def to_json(self) -> JsonObject:
        return {"step": self.step, "what": self.what, "recorded": self.recorded, "now": self.now}


def differences(recorded: Iterable[StepRecord], now: Iterable[StepRecord]) -> list[Difference]:
    """Compare two journals of a turn step by step; those of agents inside it are theirs."""
    kinds = (StepKind.MODEL, StepKind.TOOL, StepKind.AGENT, StepKind.STEER, StepKind.JUDGE)
    before = {row.key: _told(row) for row in _own(recorded, *kinds)}
    after = {row.key: _told(row) for row in _own(now, *kinds)}
    differing = []
    for key in sorted({*before, *after}, key=lambda key: (key.step, key.call_index)):
        (was, old), (is_, new) = before.get(key, ("nothing", None)), after.get(key, ("nothing", None))
        if (was, old) != (is_, new):
            kind = was if was == is_ else f"{was}, now {is_}"
            differing.append(Difference(f"{key.step}.{key.call_index}", kind, old, new))
    return differing


def _own(rows: Iterable[StepRecord], *kinds: StepKind) -> list[StepRecord]:
    return [row for row in rows if row.kind in kinds and row.state is StepState.DONE and not row.key.agent_path]


def _told(row: StepRecord) -> tuple[str, Json]:
    """Return the kind of a step and the part of it that must be the same."""
    match row.kind:
        case StepKind.MODEL:
            answer = ModelAnswer.from_json(row.result, row.usage)
            if not answer.tool_calls:
                return "answer", answer.text
            return "calls", [f"{call.name}({call.canonical_arguments()})" for call in answer.tool_calls]
        case StepKind.TOOL | StepKind.AGENT:
            return "result", [row.name, row.outcome.value, row.result.get("text", "")]
        case _:
            return row.kind.value, [row.name, row.result]
