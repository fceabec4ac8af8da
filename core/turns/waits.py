"""A turn that stops to wait for its person: its questions and cards, and the entries of history and pool until then."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from core import replies
from core.agents.held_calls import held_entries
from core.agents.turn_agents import PoolLimits
from core.agents.voice import Voice, has_a_voice
from core.journal.types import Journal
from core.llm.types import ChatMessage, Role, TokenUsage
from core.loop.conversation_state import carrying
from core.loop.reasoning import ModelCaller
from core.loop.result import ReactLoopResult
from core.questions.wording import in_words
from core.turns.context import TurnContext
from core.turns.tools import where
from core.turns.types import TurnRequest, TurnResult, TurnState
from core.turns.waiting_agents import notice, stopped


@dataclass(frozen=True, slots=True)
class Waits:
    """Build the results of an orchestrator's turns that wait. `persona` is its voice; `limits` bound the pool."""

    persona: str
    caller: ModelCaller
    limits: PoolLimits

    async def result(
        self,
        request: TurnRequest,
        context: TurnContext,
        result: ReactLoopResult,
        checked: Callable[[str], Awaitable[str]],
    ) -> TurnResult:
        """Ask the new questions, in the persona's voice, and put the waiting entries into the pool.

        `checked` returns the model's text without invented links.
        """
        agents = context.agents
        now = (*agents.waiting.values(), *held_entries(agents))
        left = stopped(request, result, now, self.limits, agents.scope.accounts.silent)
        text = left.text
        if text and has_a_voice(self.persona, request.tenant):
            voice = Voice(self.caller, request.work.journal, context.agents.scope.budget, where(request))
            text = await voice.say(result.turns - 1, (*context.messages, *result.messages), text)
            text = await checked(text)
        parts = [notice(context.waiting), text, left.asks, left.links, left.notice]
        reply, cards = _joined(parts), agents.cards
        # History gets its questions, not its unanswered calls.
        shown = (replies.CARD_SHOWN.format(code=card.code, summary=card.summary) for card in cards)
        asked = _joined([reply, *shown, in_words([one.asked for one in left.cards])])
        messages = (*context.said, *result.messages, *([ChatMessage(Role.ASSISTANT, asked)] if asked else ()))
        return TurnResult(
            TurnState.WAITING,
            reply=reply,
            reason="" if reply or cards or left.cards else "waiting",
            history=carrying(messages, result.state, request.kept.history),
            usage=await used_tokens(request.work.journal),
            turns=result.turns,
            absorbed=result.absorbed,
            joined=result.joined,
            pool=(*left.entries, *context.waiting.entries),
            approvals=tuple(cards),
            questions=left.cards,
            waiting_step=result.turns - 1,
        )


async def used_tokens(journal: Journal) -> TokenUsage:
    """Return the tokens that all model calls of a turn have used, those of its agents included."""
    return sum((record.usage for record in await journal.recorded()), TokenUsage())


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)
