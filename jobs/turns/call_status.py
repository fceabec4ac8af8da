"""Status messages while a turn runs its calls: each call in words, and the progress of tools."""

from collections.abc import Callable

from core.hooks.hooks import Hook, HookContext, Messages, PlannedCall
from core.llm.types import ModelAnswer
from core.tools.addresses import before_links
from core.tools.doing import as_status
from core.turns.event_stream import Doing, in_words

type Tell = Callable[[str, str], None]
"""Takes a turn's id and its present work in words, and returns at once."""


def calls_in_words(answer: ModelAnswer, doing: Doing) -> str:
    """Return an answer's calls in words, each kind once; empty if it has no calls."""
    return " ".join(doing(name) for name in dict.fromkeys(call.name for call in answer.tool_calls))


class CallStatus(Hook):
    """Report the status of a turn's calls. A turn without calls reports none."""

    def __init__(self, tell: Tell, turn_id: str, doing: Doing = in_words) -> None:
        self._tell = tell
        self._turn = turn_id
        self._doing = doing
        self._told = ""

    async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
        """Clear the status: the calls have finished."""
        self._say("")
        return messages

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        """Report an answer's calls in words."""
        self._say(calls_in_words(answer, self._doing))
        return answer

    async def acting_chunk(self, context: HookContext, call: PlannedCall, text: str) -> None:
        """Report the progress of a tool."""
        self._say(before_links(text))

    def _say(self, text: str) -> None:
        status = as_status(text)
        if status != self._told:
            self._told = status
            self._tell(self._turn, status)
