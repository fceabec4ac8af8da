"""The counters and timings of a process for Prometheus: every instrument, in a registry of our own.

No label names a person or holds a text: each value comes from a fixed list of ours, or from an operator's settings and
plugins. An instrument costs about a microsecond, whether or not anybody reads it.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()
UNKNOWN = "unknown"
"""Stands for a name that a model made up."""

_QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Seconds in which a provider expects an answer, as buckets."""
_SLOW = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300)
"""Seconds in which people wait, as buckets."""

ACKNOWLEDGEMENT_SECONDS = Histogram(
    "onevalet_acknowledgement_seconds",
    "From a request's headers to our answer, by route and status.",
    ("route", "code"),
    buckets=_QUICK,
    registry=REGISTRY,
)
INBOX_SECONDS = Histogram(
    "onevalet_inbox_seconds",
    "From what a channel parsed to its commit, by webhook, socket or poll.",
    ("kind", "outcome"),
    buckets=_QUICK,
    registry=REGISTRY,
)
SOCKET_OPEN = Gauge(
    "onevalet_socket_open",
    "1 while this process has an open socket to the provider; absent where none is used.",
    ("channel",),
    registry=REGISTRY,
)

ANSWER_SECONDS = Histogram(
    "onevalet_answer_seconds",
    "From a turn's first message until its answer, or what it asks, begins to arrive.",
    ("channel",),
    buckets=_SLOW,
    registry=REGISTRY,
)
TURN_SECONDS = Histogram(
    "onevalet_turn_seconds",
    "One run of a turn, from its beginning or take-over to its commit, by the state that it ended in.",
    ("state",),
    buckets=_SLOW,
    registry=REGISTRY,
)
TURNS_DELAYED = Counter(
    "onevalet_turns_delayed", "Turns that were put off, by what held them up.", ("cause",), registry=REGISTRY
)
TURNS_FAILED = Counter(
    "onevalet_turns_failed", "Turns whose end the database refused: an apology is all that was said.", registry=REGISTRY
)
STEP_SECONDS = Histogram(
    "onevalet_step_seconds",
    "One step of a turn: a model's answer or a tool call. `name` is the tool's, empty for the others.",
    ("kind", "name", "outcome"),
    buckets=_SLOW,
    registry=REGISTRY,
)

MODEL_CALL_SECONDS = Histogram(
    "onevalet_model_call_seconds",
    "One call to a model, of turns and of work behind the reply; `outcome` is ok or the error.",
    ("model", "outcome"),
    buckets=_SLOW,
    registry=REGISTRY,
)
MODEL_TOKENS = Counter(
    "onevalet_model_tokens",
    "Tokens of answered calls; `cached` ones are among `input`.",
    ("model", "kind"),
    registry=REGISTRY,
)
MODEL_COST = Counter(
    "onevalet_model_cost_dollars",
    "What answered calls cost, where litellm's map knows a price.",
    ("model",),
    registry=REGISTRY,
)
MODEL_FAILURES = Counter(
    "onevalet_model_failures",
    "Calls of turns that failed and were followed by a retry, another layer, or an apology.",
    ("model", "cause"),
    registry=REGISTRY,
)

DELIVERY_SECONDS = Histogram(
    "onevalet_delivery_seconds",
    "One call that sends a part, by what became of it.",
    ("channel", "outcome"),
    buckets=_QUICK,
    registry=REGISTRY,
)
SEGMENTS = Counter(
    "onevalet_segments", "Segments of calls that sent a part, as they are billed.", ("channel",), registry=REGISTRY
)
TEXT_COST = Counter(
    "onevalet_text_cost_dollars",
    "What these segments cost, where ONEVALET_SMS_PRICE has a price.",
    ("channel",),
    registry=REGISTRY,
)
DELIVERY_RETRIES = Counter(
    "onevalet_delivery_retries", "Calls that sent a part again.", ("channel",), registry=REGISTRY
)
LOST_ANSWERS = Counter(
    "onevalet_lost_answers",
    "Look-ups of parts whose answer was lost, by what they found out.",
    ("channel", "outcome"),
    registry=REGISTRY,
)
MESSAGES_FAILED = Counter(
    "onevalet_messages_failed",
    "Messages that were given up before a call left, by why.",
    ("reason",),
    registry=REGISTRY,
)
