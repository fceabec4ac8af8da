"""Reasons why metrics fall short of their goals, found by profiling; the page prints a reason while it applies.

Shares of a Python process are samples of py-spy (`bin/uv run -m workbench.benchmarks.profile`) while it worked, without
imports; shares of Postgres are times in functions (`track_functions`).
"""

_WEB = (
    "29 % is the kernel's sending and polling of sockets, signature and parsing 24 %, storing 16 %, the wakeup through "
    "Redis, which the floor lacks, 7 %, log lines 6 %."
)
_ROWS = (
    "A message is five rows, the floor's one: message, key, conversation, lane and backlog, behind row-level security."
)
_POSTGRES = (
    "The end of the turn with the claim of its answer is 27 %, the claim of the message 19 %, both ends of the call "
    "22 %, receipt 13 %, memory 17 %: each some ten statements behind row-level security and fences."
)
_TRIPS = (
    "One at a time it is 7.7 round trips and 9.6 with tools. Of eight people at once, half the claims of memory's jobs "
    "find them done, and what is read behind the talk is another."
)
_WEB_RATE = "Sender, web and Postgres share the cores, so their CPU bounds it."
REASONS: dict[str, str] = {
    "turn-200": "The floor, which only reads and parses the 200 chunks, is most of it; ours adds 5 µs a chunk.",
    "turn-whole": (
        "29 % is the kernel's sending to the model's server and 16 % the event loop's polling, as for the floor; "
        "reading an answer by litellm's transformation is 5 %, and the tools, their arguments checked, are 10 %."
    ),
    "turn-rate": "By wall clock: other work on the machine lowers it as it lowers the floor and the peers.",
    "begun": (
        "A message also writes its lane and the backlog, and the claim takes the lane under a fence and marks the "
        "messages, while the floor updates one row."
    ),
    "way-in-web-sms": _WEB,
    "way-in-web-slack": (
        "The kernel's sending and polling is 23 %, storing 15 %, slack-bolt's dispatch 9 %, signature and parsing 9 %; "
        "the rest is HTTP."
    ),
    "way-in-web-telegram": ("The kernel's sending and polling is 39 %, storing 13 %, parsing 5 %; the rest is HTTP."),
    **{f"way-in-postgres-{channel}": _ROWS for channel in ("sms", "slack", "telegram")},
    **{f"way-in-rate-{channel}": _WEB_RATE for channel in ("sms", "slack", "telegram")},
    "whole-rate": (
        "A turn costs what web, worker and Postgres cost above, on two cores that the simulated parts share."
    ),
    **{f"whole-postgres-{kind}": _POSTGRES for kind in ("plain", "tools")},
    "whole-limit-postgres": _POSTGRES,
    "whole-limit-wal": (
        "Entries of indexes are 45 % of it, new rows 31 %, changed rows 10 %, locks 7 %: a state that a claim looks "
        "for is in an index, so each of its changes writes an entry to every index of the row."
    ),
    **{f"whole-trips-{kind}": _TRIPS for kind in ("plain", "tools")},
    **{f"whole-transactions-{kind}": _TRIPS for kind in ("plain", "tools")},
    **{f"whole-flushes-{kind}": _TRIPS for kind in ("plain", "tools")},
    "whole-plans": (
        "Each connection of web and worker plans some 240 statements once; from then on it is one a message."
    ),
    "whole-pause": (
        "A full collection searches some 16,000 objects, those made since the worker was ready: 8 to 14 ms of CPU, "
        "and more while the cores are shared."
    ),
    "whole-memory-worker": "litellm is 76 MB of it, memory's encoder, index and their libraries 115.",
    "prompt-prefix": (
        "1.8 % of the bytes are new messages. The other 1.9 % are the context of the turn before, which stands in "
        "front of its words and is not kept, and what follows it: the next prompt differs from there."
    ),
    "start-worker": "litellm is 1.2 s of it.",
    "memory-worker": "litellm is 76 MB of it.",
    "whole-memory-web": (
        "It is 75 to 77 MB at start. The heap grows while caches fill, and levels off: by 1 MB over the first hundreds "
        "of texts, and by 1 MB over the 10,000 after them."
    ),
    "tasks": (
        "Postgres spends 93 µs a task and the worker 39: each needs a run, a turn and a lane, with eleven index "
        "entries and four foreign keys, and its next time by its zone."
    ),
    "memory-web": (
        "Of its imports, pydantic takes 13 MB, redis 8.5, cryptography 7.5, aiohttp 7, typer with rich 6, asyncpg 2.4."
    ),
    "memory-web-all": "The SDKs that receive Telegram's and Slack's webhooks are 450 modules and hold 22 MB.",
}
