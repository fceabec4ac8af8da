"""Every limit of the ReAct loop.

The six in `.env.example` are for operators. Each other can be set as ONEVALET_LOOP_<NAME> too, for a measurement.
"""

from dataclasses import dataclass, fields

from core.errors import ConfigError

_MAY_BE_ZERO = {
    "journal_patience",
    "llm_max_retries",
    "llm_outage_patience",
    "llm_retry_base_delay",
    "max_advice",
    "max_empty_answers",
    "temperature",
    "tools_in_full",
}
_ANSWERS = 15
"""Answers of the greatest length that fill a context."""
_SHARES = {"max_tool_result_share", "context_trim_threshold"}


@dataclass(frozen=True, slots=True)
class ReactLoopConfig:
    """The loop's limits. Times are seconds unless the name says otherwise. Raises `ConfigError` for a wrong limit."""

    max_turns: int = 10
    """Model answers in a turn before a last answer without tools is requested."""
    max_consecutive_errors: int = 3
    """Consecutive model answers with only failed calls, before that last answer is requested."""
    max_empty_answers: int = 1
    """Empty answers after which the model is called again."""
    max_advice: int = 2
    """Times that a judge advises the model before a last answer without tools is requested."""
    max_repeated_calls: int = 2
    """Calls of a tool with the same arguments and the same result that a judge takes for a loop."""
    max_idle_steps: int = 3
    """Model answers in a row without a new result, after which a judge advises."""
    max_calls_per_answer: int = 24
    """Calls of a model answer that run; the model learns that it has to make the others again."""
    max_cards_per_answer: int = 4
    """Approvals that a model answer may request; the model is told to request the others later."""
    max_tokens_budget: int | None = None
    """Tokens, in and out, that a turn may use; None for no limit."""

    tool_execution_timeout: float = 30.0
    agent_tool_execution_timeout: float = 120.0
    parallel_tools: bool = True
    tools_in_full: int = 12
    """Tools up to which all are described to the model in full; beyond that, a group is a line until it is needed."""
    groups_in_full: tuple[str, ...] = ()
    """Groups of tools that are always described in full, such as mail."""
    max_tool_result_share: float = 0.3
    """Share of the context that a result may fill."""
    max_tool_result_chars: int = 400_000
    min_tool_result_chars: int = 2_000
    """Length to which each result is cut when the context overflows."""

    context_token_limit: int = 128_000
    context_trim_threshold: float = 0.8
    max_history_messages: int = 40
    """Messages that stay when the context passes the threshold."""
    summarise_dropped: bool = True
    """Summarise messages before they are dropped, at least ten in each further model call, and a long history in time:
    only its newest 200 messages are loaded."""
    force_trim_messages: int = 5
    """Messages that stay as the last resort after an overflow."""
    max_overflow_recovery_attempts: int = 3

    llm_first_token_timeout: float = 120.0
    """Silence allowed before an answer begins: a local or a reasoning model reads and thinks for long. An answer that
    is not streamed must be whole by then."""
    llm_timeout: float = 18.0
    """Silence allowed in an answer that has begun."""
    llm_patience: float = 27.0
    """Seconds for which failing calls of an answer are repeated, with all keys and fallback models: if a model is down,
    the person hears of it within 30 s. A piece of an answer, or another model after a silence, restarts the time."""
    llm_outage_patience: float = 600.0
    """Seconds for which a turn is then repeated while its model is down, with growing pauses and without delaying
    anybody else. The person is told that it takes longer, and at its end that it failed; 0 fails the turn at once."""
    llm_longest_answer: float = 600.0
    """The longest that an answer may take, even if pieces keep coming."""
    llm_streaming: bool = True
    """Read answers piece by piece. Off saves half a millisecond of CPU a piece, but times out slow answers."""
    llm_max_retries: int = 2
    llm_retry_base_delay: float = 1.0
    """The first pause between attempts; it doubles."""
    max_output_tokens: int = 8_192
    """Tokens of a model answer, thinking included; fewer if the model's own limit or its context is small."""
    temperature: float | None = None

    journal_patience: float = 20.0
    """The time that journalling a step may wait while the store is away."""
    approval_timeout_minutes: int = 30
    """The time for which a card is open, unless its tool or agent names a time of its own."""

    @property
    def answer_tokens(self) -> int:
        """Return the tokens that an answer may have, with room for the conversation in a small context."""
        return max(1, min(self.max_output_tokens, self.context_token_limit // _ANSWERS))

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if value is None or isinstance(value, bool | tuple):
                continue
            if value < 0 or (value == 0 and limit.name not in _MAY_BE_ZERO):
                raise ConfigError(f"ONEVALET_LOOP_{limit.name.upper()} is {value}; it must be above 0.")
            if limit.name in _SHARES and value > 1:
                raise ConfigError(f"ONEVALET_LOOP_{limit.name.upper()} is {value}; it is a share, at most 1.")
        if self.min_tool_result_chars > self.max_tool_result_chars:
            raise ConfigError(
                "ONEVALET_LOOP_MIN_TOOL_RESULT_CHARS is above ONEVALET_LOOP_MAX_TOOL_RESULT_CHARS; lower it."
            )
