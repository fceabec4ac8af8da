"""Decisions in words: the only tool by which the model may hand on a person's words about pending approvals.

It approves nothing by itself: it counts only in answer to the approver's own message that came after the card, before
any other tool ran in that turn, and never for high risk (DESIGN section 5).
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from core import replies
from core.approvals.exact_replies import Verb
from core.approvals.outcomes import DecisionOutcome, decided_text
from core.approvals.store import ApprovalStore
from core.approvals.types import HIGH, Approval, ApprovalState
from core.clock import Clock
from core.errors import ToolRetry
from core.journal.types import Effect, Outcome, StepKey
from core.json_types import Json, JsonObject, objects_in
from core.language.catalogue import gettext, gettext_noop, speaking
from core.llm.types import ToolCall
from core.tools.context import ToolExecutionContext
from core.tools.results import ToolEnd
from core.tools.schema import Signature
from core.tools.tool import AnyTool, Tool
from core.turns.types import TurnRequest

DECIDE = "decide_approvals"
"""The built-in tool with which the model hands on decisions."""
_SAYS = (
    "Hand on what the person has just decided about actions that wait for their approval, by code. Only for what they "
    "said in their own words in this very message; never decide for them, and ask when it is unclear."
)
_VERBS = {"approve": Verb.APPROVE, "edit": Verb.EDIT, "cancel": Verb.CANCEL}
_NOT_TAKEN = "That was not taken as a decision."
_TOO_LATE = {
    ApprovalState.PENDING: gettext_noop("{code}: too late, its time is over."),
    ApprovalState.APPROVED: gettext_noop("{code}: too late, it was approved already."),
    ApprovalState.CANCELLED: gettext_noop("{code}: too late, it was cancelled already."),
    ApprovalState.EXPIRED: gettext_noop("{code}: too late, it expired already."),
    ApprovalState.REPLACED: gettext_noop("{code}: too late, it was replaced already."),
}
_FIRST = (
    "Decisions count only as the first call of a turn, before any other tool ran. Ask the person to decide with the "
    "buttons, or with OK and the code."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideTool(Tool[..., object]):
    """The tool that hands decisions on. It belongs to its turn and decides only the approvals in `open_to_words`."""

    store: ApprovalStore
    clock: Clock
    tenant_id: str
    channel: str | None
    said_in: str
    open_to_words: Mapping[str, Approval]
    codes_only: bool = False
    """Whether words may change an action here but neither approve nor cancel it."""

    def parse(self, arguments: Json) -> dict[str, object]:
        """Accept any object: running the tool explains its mistakes."""
        return dict(arguments) if isinstance(arguments, dict) else {}

    async def run_call(
        self, key: StepKey, call: ToolCall, arguments: Mapping[str, object], context: ToolExecutionContext
    ) -> ToolEnd:
        """Carry out the decisions in their order. A changed action is shown again on a new card, not described."""
        if (key.step, key.call_index, key.agent_path) != (0, 1, ""):
            raise ToolRetry(_NOT_TAKEN, note=_FIRST)
        wanted = [self._read(decision) for decision in _listed(arguments.get("decisions"))]
        decided = [await self._decide(approval, verb, changes) for approval, verb, changes in wanted]
        text = "\n".join(line for line, _ in decided) + replies.HANDED_OVER
        return ToolEnd(text, Outcome.HANDED_OVER, "\n".join(told for _, told in decided if told is not None))

    async def _decide(self, approval: Approval, verb: Verb, changes: JsonObject) -> tuple[str, str | None]:
        """Decide. Return the result for the model and the message for the person."""
        decided = await self.store.decide(
            self.tenant_id,
            approval.id,
            verb,
            how="words",
            channel=self.channel,
            now=self.clock.now(),
            said_in=self.said_in,
            changes=changes if verb is Verb.EDIT else None,
        )
        if not decided:
            now = await self.store.get(self.tenant_id, approval.id)
            return _twice(lambda: gettext(_TOO_LATE[now.state if now else ApprovalState.EXPIRED], code=approval.code))
        if verb is Verb.EDIT:
            return f"{approval.code} is changed, and shown again.", None
        return _twice(lambda: decided_text(DecisionOutcome(verb), approval.code, approval.summary))

    def _read(self, decision: JsonObject) -> tuple[Approval, Verb, JsonObject]:
        code = str(decision.get("code") or "").upper().strip()
        approval = self.open_to_words.get(code)
        if approval is None:
            known = ", ".join(self.open_to_words) or "none"
            raise ToolRetry(f"{code or 'That'} cannot be decided in words.", note=f"These can: {known}.")
        verb = _VERBS.get(str(decision.get("decision")))
        changes = decision.get("changes")
        if verb is None:
            raise ToolRetry(_NOT_TAKEN, note=f"The decision on {code} is one of approve, edit, cancel.")
        if self.codes_only and verb is not Verb.EDIT:
            raise ToolRetry(
                f"{code} is decided here by its code alone.",
                note=f"So ask the person to write OK {code} or NO {code}.",
            )
        if verb is Verb.EDIT and not approval.editable:
            raise ToolRetry(f"{code} cannot be changed, only approved or cancelled.")
        if verb is Verb.EDIT and not (isinstance(changes, dict) and changes):
            wanted = f"To edit {code}, give `changes`: new values by name. It has: {_names(approval)}."
            raise ToolRetry(_NOT_TAKEN, note=wanted)
        if verb is Verb.APPROVE and changes:
            raise ToolRetry(f"{code} cannot be approved and changed at once.", note="Edit it, and it is shown again.")
        if isinstance(changes, dict) and (unknown := [name for name in changes if name not in _editable(approval)]):
            raise ToolRetry(f"{code} has no {unknown[0]!r}. It has: {_names(approval)}.")
        return approval, verb, changes if isinstance(changes, dict) else {}


def open_to_words(request: TurnRequest, approvals: Sequence[Approval]) -> dict[str, Approval]:
    """Return the approvals that this turn's messages may decide in words: shown before all of them, not of high risk.

    Each was shown in this very conversation, or its code is in the message: a "yes" elsewhere has another
    meaning.

    A "yes" that was written before the card does not approve it, even if it is read together with a later message.
    """
    # Words that are passed on or were changed decide nothing, and the model cannot be trusted to tell them apart.
    if not request.inbound or any(not one.is_own or (one.points and one.powerless) for one in request.inbound):
        return {}
    said_at = min(message.received_at for message in request.inbound)
    return {
        approval.code: approval
        for approval in approvals
        if approval.state is ApprovalState.PENDING
        and approval.risk != HIGH
        and approval.sent_at is not None
        and approval.sent_at < said_at
        and approval.turn_id != request.turn_id
        and (approval.conversation_id == request.place.conversation_id or _named(approval, request))
    }


def _twice(say: Callable[[], str]) -> tuple[str, str]:
    """Return a sentence for the model and for the person, each in their language."""
    told = say()
    with speaking("en"):
        return say(), told


def _named(approval: Approval, request: TurnRequest) -> bool:
    words = " ".join(message.text for message in request.inbound)
    return re.search(rf"\b{approval.code}\b", words, re.IGNORECASE) is not None


def decide_tool(
    request: TurnRequest,
    store: ApprovalStore,
    clock: Clock,
    approvals: Sequence[Approval],
    offered: Collection[str] = (),
) -> AnyTool | None:
    """Return the tool for a turn, or None if its messages can decide nothing.

    If the conversation was offered the tool before, it is offered again, without any approval to decide.
    """
    codes = open_to_words(request, approvals)
    if not codes and DECIDE not in offered:
        return None
    return DecideTool(
        name=DECIDE,
        description=_SAYS,
        fn=_nothing,
        signature=Signature(BaseModel, _schema(list(codes)), frozenset({"decisions"}), {}),
        shown=_SHOWN,
        of_turn=True,
        effect=Effect.IDEMPOTENT,
        parallel=False,
        store=store,
        clock=clock,
        channel=request.channel,
        said_in=request.inbound[-1].id if request.inbound else "",
        open_to_words=codes,
        codes_only=request.channel in store.codes_only,
        tenant_id=request.tenant.id,
    )


def _schema(codes: Sequence[str]) -> JsonObject:
    code: JsonObject = {"type": "string", "description": "Which action."}
    decision: JsonObject = {
        "type": "object",
        "properties": {
            "code": code | ({"enum": list(codes)} if codes else {}),
            "decision": {"type": "string", "enum": list(_VERBS), "description": "What the person wants."},
            "changes": {
                "type": "object",
                "description": "For edit: the new values by argument name, as the person said them.",
            },
        },
        "required": ["code", "decision"],
    }
    return {
        "type": "object",
        "properties": {"decisions": {"type": "array", "items": decision, "minItems": 1}},
        "required": ["decisions"],
        "additionalProperties": False,
    }


_SHOWN = _schema(())
"""The schema that the model gets: the codes are in the note, which changes from turn to turn."""


def _listed(given: object) -> list[JsonObject]:
    listed = objects_in(given)
    if not listed:
        raise ToolRetry(_NOT_TAKEN, note="Give `decisions`: a list of {code, decision, changes}.")
    return listed


def _editable(approval: Approval) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(field.name for field in approval.form), *approval.arguments]))


def _names(approval: Approval) -> str:
    return ", ".join(_editable(approval))


async def _nothing() -> None:
    """Stand in for a function: the tool runs by itself."""
