"""A call of an agent inside a turn: collect its fields, clear and run its handlers, or put it in the pool.

Everything is in the turn's journal, below the agent's path. A turn that is taken over, or that resumes after a
person's answer, enters the agent again from its beginning: journalled steps are replayed, not repeated.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import cast

import structlog

from core.agents.account_field import AccountAsked, find_account
from core.agents.agent_call import AgentCall
from core.agents.clearance import Cleared, clear_run
from core.agents.field_collection import Collected, collect, fields_given, questions, with_choices
from core.agents.handler_result import result_of, result_text
from core.agents.handler_run import WaitsForAccount, execute, may_have_happened, next_run
from core.agents.held_calls import over_text
from core.agents.own_loop import WaitsInside
from core.agents.pool_entry import WAITING, PoolEnd, PoolEntry
from core.agents.schema import INSTRUCTION
from core.agents.standard_agent import AgentStatus
from core.journal.types import Outcome, StepKey, StepState
from core.json_types import Json, JsonObject, canonical_hash
from core.loop.gate import ConsentGate
from core.loop.outcomes import UNKNOWN_OUTCOME
from core.loop.passage import Refused, Waiting
from core.questions.types import Asked
from core.tools.account_argument import ACCOUNT

_log = structlog.get_logger()


class AgentRun:
    """A single call of an agent, with an instance of its own."""

    def __init__(self, call: AgentCall) -> None:
        turn = call.turn
        turn.used = True
        self._call = call
        self._turn = turn
        self._entry = turn.entries.get(call.path)
        self._gate = ConsentGate(turn.scope.hooks, turn.scope.journal, turn.scope.approval_requests)

    async def go(self, arguments: Mapping[str, object]) -> tuple[str, Outcome]:
        """Run the agent, resuming if it was waiting. Return the tool result, or the question with `WAITING`."""
        entry = self._entry
        if entry is not None and entry.waits and entry.schema_version != self._call.valet.schema_version:
            entry = entry.ended(PoolEnd.STALE)
        if entry is not None and not entry.waits:
            if entry.reason is not PoolEnd.STALE:
                await self._cancelled(entry)
            return over_text(entry), Outcome.ERROR
        collected = await self._filled_in(self._collect(arguments))
        fields, which = collected.fields, ""
        if await self._looks_for_account():
            account = await find_account(self._turn.scope.accounts, self._call.valet, fields, entry)
            if isinstance(account, Refused):
                return account.text, account.outcome
            if isinstance(account, AccountAsked):
                return await self._wait_for_account(account, fields)
            fields, which = account
        if not collected.whole:
            return await self._ask(questions(self._call.valet.inputs, collected), fields)
        if entry is not None and entry.status is AgentStatus.PAUSED:
            return await self._wait(AgentStatus.PAUSED, entry.question or "", fields, entry.state)
        first, fields = await self._asked_first(fields, which)
        if first:
            return await self._ask(first, {name: value for name, value in fields.items() if name not in first})
        return await self._run_handler(fields)

    async def _ask(self, asked: Mapping[str, str], fields: JsonObject) -> tuple[str, Outcome]:
        """Ask for fields; questions that are asked already stay as they are."""
        known, text = self._entry, "\n".join(asked.values())
        asks = known.asks if known is not None and known.question == text else ()
        asks = asks or with_choices(self._call.valet.inputs, asked)
        return await self._wait(AgentStatus.WAITING_FOR_INPUT, text, fields, names=tuple(asked), asks=asks)

    async def _looks_for_account(self) -> bool:
        """Return whether the agent needs an account that is not settled: it waits for it, or has not begun."""
        entry, needs = self._entry, bool(self._call.valet.accounts)
        if entry is None or entry.status is AgentStatus.WAITING_FOR_INPUT:
            return needs and not await self._begun()
        return entry.status is AgentStatus.WAITING_FOR_ACCOUNT

    async def _begun(self) -> bool:
        """Return whether a handler of the agent has run."""
        return StepKey(-1, 1, self._call.path) in await self._turn.recorded()

    async def _asked_first(self, fields: JsonObject, which: str) -> tuple[Mapping[str, str], JsonObject]:
        """Return the agent's questions about its fields before its request for consent, and the fields as it set them.

        Nothing is asked or set once it has begun. `which` is the question about the account, whose words the agent may
        override.
        """
        entry = self._entry
        if entry is not None and entry.status is AgentStatus.WAITING_FOR_ACCOUNT:
            if await self._begun():
                return {}, fields
        elif entry is not None and (entry.status is not AgentStatus.WAITING_FOR_INPUT or entry.answer or entry.state):
            return {}, fields
        agent = await self._call.make_agent(fields, {})
        first = ({ACCOUNT: which} if which else {}) | dict(await agent.ask_first())
        return first, fields | fields_given(agent)

    async def _filled_in(self, collected: Collected) -> Collected:
        """Return the fields with the derived fields filled in; once the agent has begun, they stay as they are."""
        entry = self._entry
        begun = entry is not None and (entry.status is not AgentStatus.WAITING_FOR_INPUT or bool(entry.state))
        if collected.wrong or begun:
            return collected
        agent = await self._call.make_agent(collected.fields, {})
        given = await agent.fill_in()
        inputs = self._call.valet.inputs
        return collect(inputs, collected.fields, {name: inputs[name].to_json(value) for name, value in given.items()})

    def _collect(self, arguments: Mapping[str, object]) -> Collected:
        given = cast("dict[str, Json]", dict(arguments))
        instruction = str(given.pop(INSTRUCTION, None) or "")
        entry, inputs = self._entry, self._call.valet.inputs
        self._call = replace(self._call, instruction=entry.instruction if entry else instruction)
        return collect(inputs, entry.fields, {}) if entry else collect(inputs, {}, given)

    async def _run_handler(self, fields: JsonObject) -> tuple[str, Outcome]:
        run = await next_run(self._call, fields)
        if run.known is not None and run.known.state is StepState.DONE:
            return result_text(result_of(run.known)), run.known.outcome
        answer = self._entry.answer if self._entry is not None else None
        if run.last is not None and run.last.status is AgentStatus.WAITING_FOR_INPUT and not answer:
            return await self._wait(run.last.status, run.last.raw_message, fields, run.state)
        if await may_have_happened(self._call, run):
            return UNKNOWN_OUTCOME, Outcome.UNKNOWN
        cleared = await clear_run(self._call, self._gate, run, fields)
        if isinstance(cleared, Waiting):
            return await self._wait(AgentStatus.WAITING_FOR_APPROVAL, cleared.text, fields, run.state)
        if not isinstance(cleared, Cleared):
            return cleared.text, cleared.outcome
        return await self._execute(cleared, answer)

    async def _execute(self, cleared: Cleared, answer: str | None) -> tuple[str, Outcome]:
        try:
            result, outcome = await execute(self._call, cleared.run, cleared.agent, answer)
        except WaitsInside as waits:
            if self._entry is not None:  # keeps the person's earlier answers, too
                self._turn.waiting[self._call.path] = self._entry
            return await self._gate.finish(cleared.granted, str(waits), Outcome.WAITING), Outcome.WAITING
        except WaitsForAccount as waits:
            asked = AccountAsked(waits.wanted.needs, waits.prompt)
            return await self._wait_for_account(asked, cleared.fields, cleared.run.state, answer)
        if result.status not in WAITING:
            await self._call.tell(result.status)
            return await self._gate.finish(cleared.granted, result_text(result), outcome), outcome
        text, _ = await self._wait(result.status, result.raw_message, cleared.fields, cleared.agent.state)
        if result.status is AgentStatus.WAITING_FOR_APPROVAL and self._turn.scope.approval_requests is not None:
            return await self._ask_for_handler(cleared, text)
        return await self._gate.finish(cleared.granted, text, Outcome.WAITING), Outcome.WAITING

    async def _ask_for_handler(self, cleared: Cleared, text: str) -> tuple[str, Outcome]:
        """Ask for the consent that a handler wants; the next run continues with it."""
        state = dict(cleared.agent.state)
        run = cleared.run.after_question(text, state)
        asked = await clear_run(self._call, self._gate, run, cleared.fields)
        if isinstance(asked, Cleared):
            return text, Outcome.WAITING
        if isinstance(asked, Waiting):
            return await self._wait(AgentStatus.WAITING_FOR_APPROVAL, asked.text, cleared.fields, state)
        del self._turn.waiting[self._call.path]  # nobody is asked, so nobody would ever answer
        return asked.text, asked.outcome

    async def _cancelled(self, entry: PoolEntry) -> None:
        """Notify the agent that it was dropped; its results and errors are ignored."""
        call = replace(self._call, instruction=entry.instruction)
        known = {name: value for name, value in entry.fields.items() if name in call.valet.inputs}
        try:
            agent = await call.make_agent(known, entry.state)
            agent.status = AgentStatus.CANCELLED
            await agent.on_cancelled()
        except Exception as error:  # it is over either way
            _log.warning("agent_failed", agent=call.valet.name, error=type(error).__name__, moment="on_cancelled")

    async def _wait_for_account(
        self, asked: AccountAsked, fields: JsonObject, state: JsonObject | None = None, answer: str | None = None
    ) -> tuple[str, Outcome]:
        """Put the agent into the pool until its person has connected an account."""
        turn, path = self._turn, self._call.path
        if asked.prompt.silent:
            turn.scope.accounts.silent.add(path)
        ended = await self._wait(AgentStatus.WAITING_FOR_ACCOUNT, asked.prompt.text, fields, state)
        turn.waiting[path] = replace(turn.waiting[path], needs=asked.needs, answer=answer)
        return ended

    async def _wait(
        self,
        status: AgentStatus,
        asked: str,
        fields: JsonObject,
        state: JsonObject | None = None,
        *,
        names: tuple[str, ...] = (),
        asks: tuple[Asked, ...] = (),
    ) -> tuple[str, Outcome]:
        """Put the agent into the pool when the turn stops. Return the question."""
        call, turn, known = self._call, self._turn, self._entry
        same = known if known is not None and (known.question, known.status) == (asked, status) else None
        turn.waiting[call.path] = PoolEntry(
            agent_id=known.agent_id if known else f"agent_{canonical_hash([turn.scope.where.turn_id, call.path])[:26]}",
            agent_type=call.valet.name,
            conversation_id=turn.conversation_id,
            turn_id=turn.scope.where.turn_id,
            agent_path=call.path,
            tool_call_id=call.call.id,
            status=status,
            schema_version=call.valet.schema_version,
            # The same question asked again does not give the person more time.
            expires_at=same.expires_at if same else turn.clock.now() + self._patience(status),
            fields=fields,
            asked=names,
            question=asked,
            instruction=call.instruction,
            state=state or {},
            reminded=same is not None and same.reminded,
            revision=known.revision if known else 0,
            asks=asks,
        )
        if same is None:
            await call.tell(status)
        return asked, Outcome.WAITING

    def _patience(self, status: AgentStatus) -> timedelta:
        longer = self._turn.scope.accounts.patience if status is AgentStatus.WAITING_FOR_ACCOUNT else None
        return longer or self._call.valet.ttl or self._turn.limits.ttl
