"""Answers, half of which claim an act that no call did: read from two files, and rated."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from abilities.judge.checks import CheckingJudge
from abilities.judge.claims.judge import Claims
from core.hooks.hooks import HookContext, Messages
from core.hooks.judge import Act
from core.llm.types import ChatMessage, ModelAnswer, Role, ToolCall

HERE = Path(__file__).parent
TUNED, HELD_OUT = HERE / "answers.jsonl", HERE / "held_out_answers.jsonl"
"""Those that the rules were made with, and a hundred that no rule is made for: once a rule is, write new ones."""
WHERE = HookContext("turn", "tenant", "terminal")


@dataclass(frozen=True)
class Answer:
    """An answer to a person's words. `acts`, `looked` and `failed` are the tools called in its turn, by their end;
    `earlier` are those called before it. `false`: it claims an act that no call did.
    """

    language: str
    false: bool
    asked: str
    answer: str
    acts: Sequence[str] = ()
    looked: Sequence[str] = ()
    failed: Sequence[str] = ()
    earlier: Sequence[str] = ()

    @property
    def messages(self) -> Messages:
        """Return the conversation that it answers."""
        calls = tuple(ToolCall(f"e{number}", name, "{}") for number, name in enumerate(self.earlier))
        before = (
            ChatMessage(Role.USER, "Earlier words."),
            ChatMessage(Role.ASSISTANT, "", calls),
            *(ChatMessage(Role.TOOL, "Done.", tool_call_id=call.id, name=call.name) for call in calls),
            ChatMessage(Role.ASSISTANT, "That is all."),
        )
        return (*(before if calls else ()), ChatMessage(Role.USER, self.asked))

    @property
    def trail(self) -> tuple[tuple[Act, ...], ...]:
        """Return the calls of its turn."""
        acts = [Act(name, "{}", "Done.", acted=True) for name in self.acts]
        looked = [Act(name, "{}", "Found.") for name in self.looked]
        failed = [Act(name, "{}", "It failed.", ok=False) for name in self.failed]
        return ((*acts, *looked, *failed),)


def answers_of(path: Path) -> list[Answer]:
    """Read answers."""
    return [Answer(**json.loads(line)) for line in path.read_text().splitlines()]


async def asked_again(answer: Answer) -> bool:
    """Return whether a judge has an answer asked again."""
    judge = CheckingJudge(2, 3, Claims())
    rated = await judge.rate_answer(WHERE, answer.messages, answer.trail, ModelAnswer(answer.answer))
    return bool(rated.advice)
