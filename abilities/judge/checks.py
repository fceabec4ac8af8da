"""The judge that needs no model: it finds repetition, cycles, no progress, written-out calls, and claims without calls.

Calls are compared with their arguments and results: a call with other arguments, or of something that changes, is no
loop.
"""

import re
from collections import Counter
from typing import TYPE_CHECKING

from core.hooks.hooks import HookContext, Messages
from core.hooks.judge import ALL_WELL, Act, Judge, Judgement, Trail
from core.llm.types import ModelAnswer

if TYPE_CHECKING:
    from abilities.judge.claims.judge import Claims

_MAX_CYCLE = 4
_WRITTEN_OUT = re.compile(
    r"""^\s*(?:```\w*\s*)?(?:
        <(?:tool_call|function_call|function=|invoke)
        | \[?\s*\{\s*"(?:tool|tool_name|name|function|function_call|tool_calls|final)"\s*:
    )""",
    re.VERBOSE,
)
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+(?:-[^\W\d_]+)*")
"""A word; in Chinese, which has no spaces, a character."""


class CheckingJudge(Judge):
    """Rate by counting.

    `max_repeated` is how often a call may repeat, `max_idle` the number of steps without anything new after which the
    judge advises. `claims` rates the answers that hold a word of a claim; None to rate none.
    """

    priority = 10

    def __init__(self, max_repeated: int, max_idle: int, claims: "Claims | None" = None) -> None:
        self._repeated = max_repeated
        self._idle = max_idle
        self._claims = claims

    async def rate_results(self, context: HookContext, trail: Trail) -> Judgement:
        """Look for loops that include the newest calls."""
        return self._repetition(trail) or _ping_pong(trail) or self._no_progress(trail) or ALL_WELL

    async def rate_answer(
        self, context: HookContext, messages: Messages, trail: Trail, answer: ModelAnswer
    ) -> Judgement:
        """Look for a call written as text, which would be of no use to the person, and for claims."""
        if not _WRITTEN_OUT.match(answer.text):
            if self._claims is None or self._claims.telling.isdisjoint(_WORD.findall(answer.text.lower())):
                return ALL_WELL
            return self._claims.rate(messages, trail, answer)
        return Judgement(
            "written-out call",
            "Your last answer was a tool call written as text, or JSON: the person would read it as it stands. "
            "Call the tool itself, or answer in plain words.",
        )

    def _repetition(self, trail: Trail) -> Judgement | None:
        """Find a new call that was made too often, or three times as often if its result kept changing."""
        if len(trail) < 2:
            return None
        acts = [act for step in trail for act in step]
        same = Counter(acts)
        asked = Counter((act.name, act.arguments) for act in acts)
        for act in trail[-1]:
            if same[act] >= self._repeated:
                count = f"{same[act]} times with the same arguments, and the result was the same"
            elif asked[act.name, act.arguments] >= 3 * self._repeated:
                count = f"{asked[act.name, act.arguments]} times with the same arguments"
            else:
                continue
            return Judgement(
                "repetition",
                f"You have called {act.name} {count}. Calling it again will not help: go on with what you "
                "know, try something else, or tell the person what is in the way.",
            )
        return None

    def _no_progress(self, trail: Trail) -> Judgement | None:
        if len(trail) < self._idle:
            return None
        seen: set[Act] = set()
        idle = 0
        for step in trail:
            idle = idle + 1 if all(not act.ok or act in seen for act in step) else 0
            seen.update(step)
        if idle < self._idle:
            return None
        return Judgement(
            "no progress",
            f"The last {idle} steps brought nothing new. Take another way, or tell the person what you have "
            "and what is in the way.",
        )


def _ping_pong(trail: Trail) -> Judgement | None:
    """Find steps that come round again, with the same arguments and results, for the second time."""
    for length in range(2, _MAX_CYCLE + 1):
        round_ = trail[-length:]
        if len(trail) >= 2 * length and round_ == trail[-2 * length : -length] and len(set(round_)) > 1:
            names = " and ".join(dict.fromkeys(act.name for step in round_ for act in step))
            return Judgement(
                "ping-pong",
                f"You are going to and fro between calls of {names} that tell the same each time. Decide with "
                "what you know, or tell the person what is in the way.",
            )
    return None
