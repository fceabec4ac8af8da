"""How a turn ends: what is said, what history gets, and what the pool keeps; by the loop, or before it was asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from core import replies
from core.agents.held_calls import held_entries
from core.agents.turn_agents import PoolLimits
from core.agents.voice import Voice, has_a_voice
from core.approvals.types import NewApproval
from core.errors import ContextOverflow, ModelAuthError, ModelAway, ModelError, ModelOutOfQuota, ModelRejected
from core.files.access import Files
from core.journal.types import Journal, StepKey, StepKind, StepRecord, StepState
from core.language.catalogue import gettext
from core.llm.types import ChatMessage, ModelAnswer, Role, TokenUsage, ToolCall
from core.loop.context_window import Messages
from core.loop.conversation_state import carrying
from core.loop.loop import LoopFailed
from core.loop.reasoning import ModelCaller
from core.loop.result import Ended, ReactLoopResult
from core.questions.wording import in_words
from core.tools.toolbox import ToolRegistry
from core.turns.agents import where
from core.turns.context import TurnContext
from core.turns.decide_tool import open_to_words
from core.turns.files import with_files
from core.turns.links import KnownLinks, LinkCheck, check_links, links_step
from core.turns.outage import may_pass
from core.turns.types import TurnRequest, TurnResult, TurnState
from core.turns.waiting_agents import Stopped, answered, notice, reminder, stopped

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


def waiting_result(
    request: TurnRequest,
    user_messages: Messages,
    result: ReactLoopResult,
    reply: str,
    left: Stopped,
    usage: TokenUsage,
    cards: Sequence[NewApproval] = (),
) -> TurnResult:
    """Return the result of a turn whose loop waits: history gets its questions, not its unanswered calls."""
    parts = [reply, *(replies.CARD_SHOWN.format(code=card.code, summary=card.summary) for card in cards)]
    parts += [in_words([asked.asked for asked in left.cards])]
    asked = [ChatMessage(Role.ASSISTANT, "\n\n".join(part for part in parts if part))] if any(parts) else []
    return TurnResult(
        TurnState.WAITING,
        reply=reply,
        reason="" if reply or cards or left.cards else "waiting",
        history=carrying((*user_messages, *result.messages, *asked), result.state, request.kept.history),
        usage=usage,
        turns=result.turns,
        absorbed=result.absorbed,
        joined=result.joined,
        pool=left.entries,
        approvals=tuple(cards),
        questions=left.cards,
        waiting_step=result.turns - 1,
    )


async def used_tokens(journal: Journal) -> TokenUsage:
    """Return what all model calls of a turn have used, those of its agents included."""
    return sum((record.usage for record in await journal.recorded()), TokenUsage())


def with_reply(result: TurnResult, reply: str) -> TurnResult:
    """Change the reply in history too: the model must know what the person read."""
    history = result.history
    if reply and history and history[-1].role is Role.ASSISTANT and not history[-1].tool_calls:
        history = (*history[:-1], replace(history[-1], text=reply))
    return replace(result, reply=reply, history=history)


def explain(error: ModelError, channel: str | None) -> tuple[str, str]:
    """Return the reason that is recorded for a model's failure, and what the person is told."""
    match error:
        case ContextOverflow():
            return "context_overflow", replies.too_long(channel)
        case ModelOutOfQuota():
            return "model_quota", gettext(replies.MODEL_QUOTA)
        case ModelAuthError():
            return "model_auth", gettext(replies.MODEL_AUTH)
        case ModelRejected():
            return "model_rejected", gettext(replies.MODEL_REFUSED)
        case _:
            return "model_down", gettext(replies.MODEL_DOWN)


def first_step(call: ToolCall, tools: ToolRegistry) -> StepRecord:
    """Write down a model answer that was never asked for: the call with which a turn begins."""
    answer = ModelAnswer(tool_calls=(call,))
    return StepRecord(
        StepKey(0, 0), StepKind.MODEL, "", StepState.DONE, arguments_hash=tools.hash, result=answer.to_json()
    )


def answered_plainly(request: TurnRequest, context: TurnContext) -> TurnResult | None:
    """Return the result of a turn whose message answers what waits for it; None where the loop has to look."""
    if not context.waiting.offered:
        return None
    # Words may as well be about what waits for an approval.
    by_words = not open_to_words(request, request.kept.approvals)
    taken = context.waiting.answer_exactly(request.inbound, by_words=by_words)
    plainly = context.waiting.answer_plainly(request.inbound) if by_words and not taken else None
    taken = (plainly,) if plainly is not None else taken
    if not taken:
        return None
    reply, entries = notice(context.waiting), context.waiting.entries
    return TurnResult(TurnState.DONE, reply, answered(taken), history=context.said, pool=entries)


def only_unreadable(request: TurnRequest, context: TurnContext) -> TurnResult | None:
    """Return the result of a turn in which only files came, none of which can be used; None where there is more."""
    files = [file for message in request.inbound for file in message.files]
    if not files or any(message.text for message in request.inbound) or not all(file.failure for file in files):
        return None
    said = "\n".join(dict.fromkeys(file.failure for file in files))
    history = (*context.said, ChatMessage(Role.ASSISTANT, said))
    return TurnResult(TurnState.DONE, said, "file_not_usable", history=history)
