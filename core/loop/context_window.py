"""Keep a conversation within a model's context, by three defences, and well-formed.

In every cut the system prompt and the person's last messages stay, a call keeps its results, and the
first message after the system prompt is a user's, as providers demand.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.llm.types import BYTES_PER_TOKEN, ChatMessage, Marker, Role, estimate_tokens
from core.loop.config import ReactLoopConfig

type Messages = tuple[ChatMessage, ...]

MOST_SHOWN = 80
"""Messages of a history that is summarised: fewer than are loaded of it (`core.turns.store.HISTORY_ROWS`)."""

LOST_RESULT = "The result of this call was lost."
_CUT = "\n[...truncated]"


class ContextManager:
    """Cut results and messages to the limits of a config. Pure: every method returns new messages."""

    def __init__(self, config: ReactLoopConfig) -> None:
        self._config = config
        self._budget = int(config.context_token_limit * config.context_trim_threshold)

    def truncate_tool_result(self, text: str) -> str:
        """Return a result cut to its share of the context: the first defence, right after a call."""
        share = int(self._config.context_token_limit * self._config.max_tool_result_share) * BYTES_PER_TOKEN
        return _cut(text, max(min(share, self._config.max_tool_result_chars), 1))

    def trim_if_needed(self, messages: Messages, tokens: int | None = None) -> Messages:
        """Drop the oldest messages when the context is nearly full: the second defence, before each model call.

        They go in steps, of half of the messages that may stay: a prompt that lost a message each turn could never be
        cached. `tokens` is the messages' size as the model counted it, if known.
        """
        if (estimate_tokens(messages) if tokens is None else tokens) <= self._budget:
            return messages
        limit = self._config.max_history_messages
        trimmed = self._keep_in_steps(messages, limit)
        while estimate_tokens(trimmed) > self._budget and limit > 1:
            limit //= 2
            trimmed = self._keep_in_steps(messages, limit)
        return trimmed

    def fitting(self, messages: Messages, tokens: int | None = None) -> Messages:
        """Return the part of a conversation that the model sees: all that fits or, if the rest is summarised, less.

        Half of them go at once, so that few summaries are written and prompts begin alike from turn to turn.
        """
        trimmed = self.trim_if_needed(messages, tokens)
        most = min(2 * self._config.max_history_messages, MOST_SHOWN)
        if not self._config.summarise_dropped or _count(trimmed) <= most:
            return trimmed
        return self.keep_recent(trimmed, most // 2)

    def _keep_in_steps(self, messages: Messages, limit: int) -> Messages:
        count, step = _count(repair(messages)), max(limit // 2, 1)
        steps = max(-(-(count - limit) // step), 0)
        return self.keep_recent(messages, count - steps * step if steps else limit)

    def truncate_all_tool_results(self, messages: Messages) -> Messages:
        """Cut every result to the shortest useful length."""
        return tuple(
            replace(message, text=_cut(message.text, self._config.min_tool_result_chars))
            if message.role is Role.TOOL
            else message
            for message in messages
        )

    def force_trim(self, messages: Messages) -> Messages:
        """Keep only the last few messages: the third defence."""
        return self.keep_recent(messages, self._config.force_trim_messages)

    def recoveries(self, messages: Messages) -> Iterator[Messages]:
        """Yield ever smaller conversations to try after an overflow; skip a step that cuts nothing."""
        last = messages
        for step in (
            lambda now: self.keep_recent(now, self._config.max_history_messages),
            self.truncate_all_tool_results,
            self.force_trim,
        ):
            smaller = step(last)
            if smaller != last:
                last = smaller
                yield smaller

    def keep_recent(self, messages: Messages, limit: int) -> Messages:
        """Keep the system prompt, the person's last messages, and about the last `limit` messages."""
        system = tuple(message for message in messages if message.role is Role.SYSTEM)
        units = _units([message for message in repair(messages) if message.role is not Role.SYSTEM])
        pinned = _pinned(units, limit)
        kept: list[int] = []
        count = 0
        for index in range(len(units) - 1, -1, -1):
            if kept and count + len(units[index]) > limit:
                break
            kept.insert(0, index)
            count += len(units[index])
        kept = sorted({*kept, *pinned})
        while kept and pinned and units[kept[0]][0].role is not Role.USER:
            kept.pop(0)
        return (*system, *(message for index in kept for message in units[index]))


def repair(messages: Messages) -> Messages:
    """Return messages in which each call has exactly one result, right after it, and each result has a call."""
    out: list[ChatMessage] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if message.role is Role.TOOL:
            continue
        out.append(message)
        if message.tool_calls:
            results: dict[str | None, ChatMessage] = {}
            while index < len(messages) and messages[index].role is Role.TOOL:
                results.setdefault(messages[index].tool_call_id, messages[index])
                index += 1
            out.extend(
                results.get(call.id, ChatMessage(Role.TOOL, LOST_RESULT, tool_call_id=call.id, name=call.name))
                for call in message.tool_calls
            )
    return tuple(out) if len(out) != len(messages) or tuple(out) != messages else messages


def _count(messages: Messages) -> int:
    return sum(message.role is not Role.SYSTEM for message in messages)


def _units(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    """Group a message with the results of its calls, as they may only be dropped together."""
    units: list[list[ChatMessage]] = []
    for message in messages:
        if message.role is Role.TOOL and units:
            units[-1].append(message)
        else:
            units.append([message])
    return units


def _pinned(units: Sequence[Sequence[ChatMessage]], limit: int) -> set[int]:
    """Return the units of the person's last messages in a row; without any, of the last user message."""
    users = [index for index, unit in enumerate(units) if unit[0].role is Role.USER]
    persons = [index for index in users if not units[index][0].internal]
    if not (persons or users):
        return set()
    last = (persons or users)[-1]
    pinned = {last, *(index for index in users if units[index][0].marker is Marker.CONTEXT)}
    while last - 1 in users and len(pinned) < limit:
        last -= 1
        pinned.add(last)
    return pinned


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit or (text.endswith(_CUT) and len(text) <= limit + len(_CUT)):
        return text
    kept = text[:limit]
    newline = kept.rfind("\n")
    if newline > limit // 2:
        kept = kept[:newline]
    return kept + _CUT
