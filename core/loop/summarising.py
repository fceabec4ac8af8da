"""The summary of the messages that no longer fit into the context, made before they are dropped."""

from collections.abc import Awaitable, Callable

from core.budgets.types import OutOfMoney
from core.errors import ModelError
from core.hooks.hooks import Hook
from core.journal.types import StepKey
from core.llm.types import ModelAnswer, ModelRequest
from core.loop.context_window import Messages
from core.loop.conversation_state import dropped, is_due, not_summarised, summarised, summary_request, with_summary
from core.loop.outside import for_later
from core.loop.run import LoopRun

type AskForSummary = Callable[[StepKey, ModelRequest], Awaitable[ModelAnswer]]


async def in_short(run: LoopRun, trimmed: Messages, limit: int, ask: AskForSummary) -> Messages:
    """Return the rest of a run's window, with a summary of the dropped messages; `limit` is the context's."""
    run.dropped += map(for_later, dropped(run.window, trimmed))
    if is_due(run.state, run.dropped):
        await _summarise(run, limit, ask)
    return with_summary(trimmed, run.state, run.dropped, limit)


async def _summarise(run: LoopRun, limit: int, ask: AskForSummary) -> None:
    """Summarise the dropped messages by a model. If that fails they stay in history, for another try later."""
    request = summary_request(run.state, run.dropped, limit * 2)
    key = StepKey(run.step, 0, f"{run.scope.where.agent_path}#summary")
    try:
        answer = await ask(key, request)
    except (ModelError, OutOfMoney) as error:
        if isinstance(error, ModelError):
            await run.scope.hooks.tell(Hook.on_error, run.scope.where, error)
        run.state = not_summarised(run.state, run.dropped)
        return
    await run.scope.budget.settle(key, answer.usage)
    run.usage += answer.usage
    if answer.refused or not answer.text.strip():
        run.state = not_summarised(run.state, run.dropped)
        return
    run.state = summarised(run.state, answer.text, run.dropped)
    run.dropped.clear()
