"""Undo: a word and a tool take back the actions of earlier calls that offered it, by their inverses."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.agents.turn_agents import TurnAgents, agent_path
from core.clock import zone_or_utc
from core.journal.types import Effect, Outcome, StepKey
from core.language.catalogue import gettext
from core.llm.types import ToolCall
from core.loop.context_window import ContextManager
from core.loop.tool_runner import ToolRunner
from core.people.tenant import TurnTenant
from core.replies import without_notes
from core.tools.context import ToolExecutionContext
from core.tools.results import CallResult, ToolEnd
from core.tools.tool import AnyTool, Tool, tool
from core.tools.toolbox import Toolbox, ToolRegistry
from core.tools.undo_store import UndoRecord, UndoStore, number_of
from core.turns import undo_wording as undo_words
from core.turns.undo_wording import UNDO_LAST

_SECONDS = 120.0
_NONE = 0
"""No record's number."""


@dataclass(frozen=True, slots=True)
class Undo:
    """The undo of a turn: `inverses` are the tools that take back."""

    store: UndoStore
    inverses: ToolRegistry
    turn: TurnAgents
    tenant: TurnTenant


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoTool(Tool[..., object]):
    """The tool that takes back. It belongs to a single turn.

    Its effect is "read": the call that takes back has a row of its own in the journal, so a turn may always enter this
    call again.
    """

    undo: Undo

    async def run_call(
        self, key: StepKey, call: ToolCall, arguments: Mapping[str, object], context: ToolExecutionContext
    ) -> ToolEnd:
        code, task = str(arguments.get("code") or ""), arguments.get("task")
        wanted = number_of(code) if code else None
        store, tenant, now = self.undo.store, self.undo.tenant, context.clock.now()
        if arguments.get("show"):
            return ToolEnd(undo_words.listed(await store.open(tenant.id, now), now, zone_or_utc(tenant.timezone)))
        words = undo_words.telling(str(arguments.get("words") or ""))
        by_name = wanted is None and (words or isinstance(task, int))
        # A repeat of this call takes back the same action, however that action is named.
        if by_name and await store.take(tenant.id, _NONE, context.idempotency_key, now) is None:
            done = await store.done(tenant.id, now)
            meant = await _of_task(done, task, context) if isinstance(task, int) else undo_words.named(done, words)
            if len(meant) != 1:
                return undo_words.which(meant, await store.open(tenant.id, now))
            wanted = meant[0].number
        record = await store.take(tenant.id, wanted, context.idempotency_key, now)
        if record is None or record.undone:
            return undo_words.not_done(record, code, await store.open(tenant.id, now))
        if record.instead:
            return undo_words.cannot(record, await store.open(tenant.id, now))
        result = await self._take_back(record, key, call)
        if result.outcome is Outcome.OK:
            await store.end(tenant.id, record.id)
            return ToolEnd(result.text, told=without_notes(result.text))
        told = None if result.outcome is Outcome.WAITING else undo_words.why_not(record, result)
        return ToolEnd(result.text, result.outcome, told)

    async def _take_back(self, record: UndoRecord, key: StepKey, call: ToolCall) -> CallResult:
        """Run the inverse as any call: past the rules and the consent gate, and journalled below this call."""
        turn = self.undo.turn
        inverse = self.undo.inverses.get(record.tool)
        arguments = json.dumps(record.arguments, ensure_ascii=False)
        wanted = ToolCall(f"{call.id}_undo", record.tool, arguments)
        if inverse is None:
            return CallResult(wanted, gettext("The ability that did this is no longer installed."), Outcome.ERROR)
        where = replace(turn.scope.where, agent_path=agent_path(key, self.name))
        scope = replace(turn.scope, where=where, recorded=await turn.recorded())
        runner = ToolRunner(scope, Toolbox(ToolRegistry([inverse])), ContextManager(scope.config))
        [result] = await runner.run_all(0, [wanted])
        return result


async def _of_task(records: Sequence[UndoRecord], number: int, context: ToolExecutionContext) -> Sequence[UndoRecord]:
    """Return those of the records that made or changed the task with a number, in their order."""
    ids = dict.fromkeys(record.task for record in records if record.task)
    tasks = [await context.tasks.find(id) for id in ids]
    meant = {task.id for task in tasks if task and task.number == number}
    return [record for record in records if record.task in meant]


def undo_tool(undo: Undo) -> AnyTool:
    """Return the tool that takes actions back, and lists those that can be taken back."""
    plain = _described()
    return UndoTool(
        name=UNDO_LAST,
        description=plain.description,
        fn=plain.fn,
        signature=plain.signature,
        effect=Effect.READ,
        parallel=False,
        agent=True,
        timeout=_SECONDS,
        undo=undo,
    )


@lru_cache(1)
def _described() -> AnyTool:
    """Return the tool's description for the model, made once: a schema takes a millisecond."""

    @tool(name=UNDO_LAST, effect="read")
    async def undo_last(code: str = "", task: int | None = None, words: str = "", show: bool = False) -> None:
        """Take back an act for the person: the newest, unless they mean an earlier one. Tell them the result.

        Args:
            code: The letter of an earlier act in the list.
            task: Or the number of its task.
            words: Or words of the act, as they said it ("dishes").
            show: Only list what can be taken back.
        """

    return undo_last
