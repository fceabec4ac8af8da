"""Ask the person in the assistant's own voice: a model call without tools, or the plain text if that fails."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from core import replies
from core.budgets.types import OutOfMoney, TurnBudget
from core.errors import ModelError
from core.hooks.hooks import HookContext
from core.journal.types import Journal, StepKey, StepKind, StepRecord, StepState
from core.json_types import canonical_hash
from core.llm.types import ChatMessage, ModelAnswer, ModelRequest, Role
from core.loop.reasoning import ModelCaller
from core.people.tenant import TurnTenant

PATH = "ask"
"""The agent path of these model calls in the turn's journal."""
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Voice:
    """The model in the assistant's voice, under the turn's journal and budget."""

    caller: ModelCaller
    journal: Journal
    budget: TurnBudget
    where: HookContext

    async def say(self, step: int, messages: tuple[ChatMessage, ...], text: str) -> str:
        """Return the text in the assistant's words; a take-over returns the same words."""
        digest = canonical_hash(text)
        recorded = {row.key: row for row in await self.journal.recorded() if row.key.agent_path == PATH}
        if known := _known(recorded, step, digest):
            answer = ModelAnswer.from_json(known.result, known.usage)
            await self.budget.settle(known.key, answer.usage)
            return replies.without_notes(answer.text).strip() or text
        key = StepKey(step, sum(key.step == step for key in recorded), PATH)
        request = ModelRequest(
            (*messages, ChatMessage(Role.USER, f"{replies.SAY_THIS}{text}", internal=True)), use_tools=False
        )
        began = time.monotonic()
        try:
            await self.budget.reserve(key, request)
            answer = (await self.caller.ask(request)).answer
        except OutOfMoney:
            return text
        except ModelError as error:
            _log.warning("question_said_plainly", turn=self.where.turn_id, cause=type(error).__name__)
            await self.budget.release(key)
            return text
        took = int((time.monotonic() - began) * 1000)
        await self.journal.write(
            StepRecord(
                key,
                StepKind.MODEL,
                answer.model,
                StepState.DONE,
                arguments_hash=digest,
                result=answer.to_json(),
                usage=answer.usage,
                duration_ms=took,
            )
        )
        await self.budget.settle(key, answer.usage)
        return replies.without_notes(answer.text).strip() or text


def has_a_voice(persona: str, tenant: TurnTenant) -> bool:
    """Return whether questions are reworded for this person: there is a persona, or a language other than English."""
    return bool(persona.strip()) or (tenant.language is not None and not tenant.language.lower().startswith("en"))


def _known(recorded: Mapping[StepKey, StepRecord], step: int, digest: str) -> StepRecord | None:
    return next((row for key, row in recorded.items() if key.step == step and row.arguments_hash == digest), None)
