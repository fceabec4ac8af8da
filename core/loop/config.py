"""Every number of the ReAct loop, in one place; each can be set as ONEVALET_LOOP_<NAME>."""

from dataclasses import dataclass, fields

from core.errors import ConfigError

_MAY_BE_ZERO = {
    "journal_patience",
    "llm_max_retries",
    "llm_retry_base_delay",
    "max_advice",
    "max_empty_answers",
    "temperature",
}
_SHARES = {"max_tool_result_share", "context_trim_threshold"}


@dataclass(frozen=True, slots=True)
class ReactLoopConfig:
    """The loop's limits. Times are seconds unless the name says otherwise. Raises `ConfigError` when one is off."""

    max_turns: int = 10
    """Model answers in one turn of a conversation, before a last one without tools is asked for."""
    max_consecutive_errors: int = 3
    """Model answers in a row whose every call failed, before that last answer is asked for."""
    max_empty_answers: int = 1
    """Answers that say nothing, after each of which the model is asked again."""
    max_advice: int = 2
    """Times that a judge advises the model, before a last answer without tools is asked for."""
    max_repeated_calls: int = 3
    """Calls of a tool with the same arguments and the same result, from which a judge calls it a loop."""
    max_idle_steps: int = 3
    """Model answers in a row whose every call failed or told nothing new, from which a judge advises."""
    max_calls_per_answer: int = 24
    """Calls of one model answer that are run; the model is told to make the others again."""
    max_cards_per_answer: int = 4
    """Approvals that one model answer may ask for; the model is told to ask for the others afterwards."""
    max_tokens_budget: int | None = None
    """Tokens, in and out, that one turn may use; None for no limit."""

    tool_execution_timeout: float = 30.0
    agent_tool_execution_timeout: float = 120.0
    parallel_tools: bool = True
    max_tool_result_share: float = 0.3
    """How much of the context one result may fill."""
    max_tool_result_chars: int = 400_000
    min_tool_result_chars: int = 2_000
    """What is kept of each result when the context overflows."""

    context_token_limit: int = 128_000
    context_trim_threshold: float = 0.8
    max_history_messages: int = 40
    """What is kept when the context passes the threshold."""
    summarise_dropped: bool = False
    """Whether what is dropped then is first summed up, by one more model call."""
    force_trim_messages: int = 5
    """What is kept as the last resort after an overflow."""
    max_overflow_recovery_attempts: int = 3

    llm_timeout: float = 18.0
    """One model call without a sign of life: to its first piece, and from each to the next."""
    llm_patience: float = 27.0
    """The same over all retries, keys and fallback models of one answer; the person is told within 30 s."""
    llm_longest_answer: float = 600.0
    """One model answer, however lively."""
    llm_streaming: bool = True
    """Read answers piece by piece. Off: half a millisecond of CPU a piece is saved, and a slow answer is cut."""
    llm_max_retries: int = 2
    llm_retry_base_delay: float = 1.0
    """The first pause between tries; it doubles."""
    max_output_tokens: int = 8_192
    """Tokens of one model answer, its thinking included; less where the model is known to write less."""
    temperature: float | None = None

    journal_patience: float = 20.0
    """How long a step waits to be written down while the store is away."""
    approval_timeout_minutes: int = 30

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if value is None or isinstance(value, bool):
                continue
            if value < 0 or (value == 0 and one.name not in _MAY_BE_ZERO):
                raise ConfigError(f"ONEVALET_LOOP_{one.name.upper()} is {value}; it must be above 0.")
            if one.name in _SHARES and value > 1:
                raise ConfigError(f"ONEVALET_LOOP_{one.name.upper()} is {value}; it is a share, at most 1.")
        if self.min_tool_result_chars > self.max_tool_result_chars:
            raise ConfigError(
                "ONEVALET_LOOP_MIN_TOOL_RESULT_CHARS is above ONEVALET_LOOP_MAX_TOOL_RESULT_CHARS; lower it."
            )
