"""How a turn ends: what is said, what history gets, and what the pool keeps."""

from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from core.agents.held_calls import held_entries
from core.agents.turn_agents import PoolLimits
from core.agents.voice import Voice, has_a_voice
from core.errors import ModelAway, ModelError
from core.files.access import Files
from core.llm.types import ChatMessage, Role
from core.loop.loop import LoopFailed
from core.loop.model_caller import ModelCaller
from core.loop.result import Ended, ReactLoopResult
from core.turns.agents import where
from core.turns.context import TurnContext
from core.turns.files import with_files
from core.turns.links import KnownLinks, LinkCheck, check_links, links_step
from core.turns.outage import may_pass
from core.turns.results import explain, turn_result, used_tokens, waiting_result, with_reply
from core.turns.types import TurnRequest, TurnResult, TurnState
from core.turns.waiting_agents import answered, notice, reminder, stopped

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Endings:
    """Build the results of one orchestrator's turns. `persona` is its voice; `limits` bound the pool."""

    persona: str
    caller: ModelCaller
    limits: PoolLimits
    links: LinkCheck = "drop"
    files: Files | None = None

    async def end(self, request: TurnRequest, context: TurnContext, result: ReactLoopResult) -> TurnResult:
        """Return what becomes of a turn whose loop has ended or waits."""
        return await with_files(self.files, request, context, await self._end(request, context, result))

    async def _end(self, request: TurnRequest, context: TurnContext, result: ReactLoopResult) -> TurnResult:
        waiting = context.waiting
        waiting.replay(result.messages, context.tools)
        if result.ended is Ended.WAITING:
            return await self._wait(request, context, result)
        if request.go_on_at is not None or context.agents.used:
            result = replace(result, token_usage=await used_tokens(request.work.journal))
        settled = turn_result(request, context.said, result)
        settled = replace(settled, reply=await self._with_links_that_exist(request, context, result, settled.reply))
        if result.ended is Ended.HANDED_OVER:
            settled = replace(settled, reply="\n".join(result.told), reason=answered(tuple(waiting.changed.values())))
        parts = [notice(waiting), settled.reply, reminder(waiting, result)]
        settled = with_reply(settled, "\n\n".join(part for part in parts if part))
        return replace(settled, pool=waiting.entries)

    async def _wait(self, request: TurnRequest, context: TurnContext, result: ReactLoopResult) -> TurnResult:
        """Stop a turn whose agents wait: ask what is new, in the persona's voice, and put them into the pool."""
        agents = context.agents
        now = (*agents.waiting.values(), *held_entries(agents))
        left = stopped(request, result, now, self.limits, agents.scope.accounts.silent)
        text = left.text
        if text and has_a_voice(self.persona, request.tenant):
            voice = Voice(self.caller, request.work.journal, context.agents.scope.budget, where(request))
            text = await voice.say(result.turns - 1, (*context.messages, *result.messages), text)
            text = await self._with_links_that_exist(request, context, result, text)
        parts = (notice(context.waiting), text, left.asks, left.links, left.notice)
        reply = "\n\n".join(part for part in parts if part)
        left = replace(left, entries=(*left.entries, *context.waiting.entries))
        cards = context.agents.cards
        return waiting_result(
            request, context.said, result, reply, left, await used_tokens(request.work.journal), cards
        )

    async def _with_links_that_exist(
        self, request: TurnRequest, context: TurnContext, result: ReactLoopResult, reply: str
    ) -> str:
        """Return what the model said without the links that it made up; `trace` shows that there were some."""
        if self.links == "off" or "." not in reply:
            return reply
        known = KnownLinks.of(context.messages, result.messages, context.agents.scope.outside)
        checked = check_links(reply, known, self.links)
        if checked.unknown:
            _log.info("links_made_up", turn=request.turn_id, count=len(checked.unknown))
            await request.work.journal.write(links_step(result.turns - 1, checked))
        return checked.text

    async def fail(self, request: TurnRequest, context: TurnContext, failed: LoopFailed) -> TurnResult:
        """Return what becomes of a turn whose model stayed away. Raises `ModelAway` where it is tried again later."""
        await self._postpone(request, failed.error)
        reason, reply = explain(failed.error, request.channel)
        cause, detail = type(failed.error).__name__, str(failed.error)
        _log.error("turn_failed", turn=request.turn_id, reason=reason, cause=cause, detail=detail)
        result = turn_result(request, context.said, failed.partial)
        context.waiting.replay(failed.partial.messages, context.tools)
        return replace(
            result,
            state=TurnState.FAILED,
            reply=reply,
            reason=reason,
            history=(*result.history, ChatMessage(Role.ASSISTANT, reply)),
            pool=context.waiting.entries,
        )

    async def _postpone(self, request: TurnRequest, error: ModelError) -> None:
        patience = timedelta(seconds=self.caller.config.llm_outage_patience)
        if request.work.outage is None or not patience or not may_pass(error):
            return
        if postponed := await request.work.outage.postpone(error, patience):
            raise ModelAway(type(error).__name__, told=postponed.told, due=postponed.due) from error
