"""The end of a turn, after the loop or without it: the reply, and the entries of history and pool.

`waits` ends a turn that waits for its person, `model_away` a turn whose model stayed away.
"""

from dataclasses import dataclass, replace
from functools import partial

import structlog

from core.files.access import Files
from core.llm.types import Role
from core.loop.context_window import Messages
from core.loop.conversation_state import carrying
from core.loop.result import Ended, ReactLoopResult
from core.turns.context import TurnContext
from core.turns.files import with_files
from core.turns.links import KnownLinks, check_links, links_step
from core.turns.types import TurnRequest, TurnResult, TurnState
from core.turns.waiting_agents import answered, notice, reminder
from core.turns.waits import Waits, used_tokens

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Endings:
    """Build the results of an orchestrator's turns."""

    waits: Waits
    files: Files | None = None

    async def end(self, request: TurnRequest, context: TurnContext, result: ReactLoopResult) -> TurnResult:
        """Return the result of a turn whose loop has ended or waits."""
        return await with_files(self.files, request, context, await self._end(request, context, result))

    async def _end(self, request: TurnRequest, context: TurnContext, result: ReactLoopResult) -> TurnResult:
        waiting = context.waiting
        waiting.replay(result.messages, context.tools)
        if result.ended is Ended.WAITING:
            checked = partial(self._with_links_that_exist, request, context, result)
            return await self.waits.result(request, context, result, checked)
        if request.go_on_at is not None or context.agents.used:
            result = replace(result, token_usage=await used_tokens(request.work.journal))
        settled = turn_result(request, context.said, result)
        settled = replace(settled, reply=await self._with_links_that_exist(request, context, result, settled.reply))
        if result.ended is Ended.HANDED_OVER:
            settled = replace(settled, reply="\n".join(result.told), reason=answered(tuple(waiting.changed.values())))
        parts = [notice(waiting), settled.reply, reminder(waiting, result)]
        settled = with_reply(settled, "\n\n".join(part for part in parts if part))
        return replace(settled, pool=waiting.entries)

    async def _with_links_that_exist(
        self, request: TurnRequest, context: TurnContext, result: ReactLoopResult, reply: str
    ) -> str:
        """Return the model's text without invented links; `trace` shows that there were some."""
        if "." not in reply:
            return reply
        known = KnownLinks.of(context.messages, result.messages, context.agents.scope.outside)
        checked = check_links(reply, known)
        if checked.unknown:
            _log.info("links_made_up", turn=request.turn_id, count=len(checked.unknown))
            await request.work.journal.write(links_step(result.turns - 1, checked))
        return checked.text


def turn_result(request: TurnRequest, user_messages: Messages, result: ReactLoopResult) -> TurnResult:
    """Return the result of a turn whose loop has ended; `user_messages` are the person's messages of the turn."""
    state = TurnState.INTERRUPTED if result.ended in (Ended.INTERRUPTED, Ended.SUPERSEDED) else TurnState.DONE
    return TurnResult(
        state,
        reply=result.response,
        history=carrying((*user_messages, *result.messages), result.state, request.kept.history),
        usage=result.token_usage,
        turns=result.turns,
        absorbed=result.absorbed,
        joined=result.joined,
        reason="" if result.ended is Ended.ANSWERED else result.ended.value,
    )


def with_reply(result: TurnResult, reply: str) -> TurnResult:
    """Change the reply in history too: the model must know the text that the person read."""
    history = result.history
    if reply and history and history[-1].role is Role.ASSISTANT and not history[-1].tool_calls:
        history = (*history[:-1], replace(history[-1], text=reply))
    return replace(result, reply=reply, history=history)
