"""Why a metric falls short of its goal, found by profiling it; the page prints the reason while it does.

Shares of a Python process are samples of py-spy (`uv run -m benchmarks.profile`) while it worked, without its imports;
shares of Postgres are times in functions (`track_functions`).
"""

_WORKER = (
    "Sampled when a plain message took 6.9 ms; what has been added since was not. "
    "38 % of the worker's time is the kernel's sending over sockets, to Postgres, Redis and the model: each wakes "
    "another process. The loop with its model call is 17 %, delivery 11 %, preparing prompt and tools 8 %; the rest is "
    "spread."
)
_POSTGRES = (
    "Spread over some 25 functions: `read_turn` takes 13 %, `finish_turn` and `begin_delivery` 10 % each, `begin_turn` "
    "9 %, and each other less than 5 %."
)
_WEB = (
    "41 % of web's time is the kernel's sending and receiving: the request, Postgres, the wakeup, the answer. "
    "Signature and parsing are 18 %, the wakeup through Redis, which the floor lacks, 13 %; the rest is HTTP and its "
    "middleware."
)
_ROWS = (
    "A message is five rows where the floor's is one: the message, its key, the conversation, its lane and the count "
    "of what waits, behind row-level security. `take_message`, which writes most of them, is two thirds of the time."
)
_WEB_RATE = (
    "By wall clock: sender, web and Postgres share the cores, so that the CPU of both above bounds it, and other work "
    "on the machine lowers it as it lowers the floor."
)
REASONS: dict[str, str] = {
    "turn-200": "The floor, which only reads and parses the 200 chunks, is most of it; ours adds 5 µs a chunk.",
    "turn-whole": (
        "29 % is the kernel's sending to the model's server and 16 % the event loop's polling, as for the floor; "
        "reading an answer by litellm's transformation is 5 %, and the tools, their arguments checked, are 10 %."
    ),
    "turn-rate": "By wall clock: other work on the machine lowers it as it lowers the floor and the peers.",
    "durable-worker": _WORKER,
    "tools-worker": _WORKER,
    "durable-postgres": _POSTGRES,
    "tools-postgres": _POSTGRES,
    "begun": (
        "The hops are those of the floor: a commit, a push, a pop, a claim. But a message also writes its lane and the "
        "count of what waits before its commit, and the claim takes the lane under a fence and marks the messages "
        "before it writes the turn, where the floor updates one row."
    ),
    "way-in-web-sms": _WEB,
    "way-in-web-slack": "A quarter of web's time is slack-bolt's dispatch; otherwise as for SMS.",
    "way-in-web-telegram": "Not sampled apart; HTTP, Postgres and the wakeup are as for SMS.",
    **{f"way-in-postgres-{channel}": _ROWS for channel in ("sms", "slack", "telegram")},
    **{f"way-in-rate-{channel}": _WEB_RATE for channel in ("sms", "slack", "telegram")},
    "whole-rate": (
        "A turn costs what web, worker and Postgres cost above, on two cores that those who write, the model and the "
        "provider share."
    ),
    "whole-memory-web": "Not explained: it is 76 to 77 MB at start, and what the requests add was not sampled.",
    "whole-memory-worker": "Not explained: it was 194 MB before files and voice notes came in.",
    "tasks": (
        "Postgres spends 93 µs a task and the worker 39: a run, a turn and a lane are written for each, with eleven "
        "index entries and four foreign keys, and it is moved on to a time that depends on its zone."
    ),
    "memory-web-all": "The SDKs that receive Telegram's and Slack's webhooks are 450 modules and hold 22 MB.",
}
