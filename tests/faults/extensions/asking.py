"""What the model does about a text that uses what plugins bring, asks something, or comes from a program."""

import re
from collections.abc import Sequence

from core.json_types import JsonObject
from tests.faults.extensions.points import Kind
from tests.scripted_model import Reply, calls, text, text_of

ASKS = re.compile(rf"(m\d{{5}}-p\d{{3}}) ({'|'.join(Kind)})\b")
SKILL = "nightly-round"
"""The operator's skill."""
OWN_SKILL = "my-round"
_DONE = "done"
_UNKNOWN = ("It is unknown", "The outcome of this call is unknown")
_USES = {Kind.SKILL: SKILL, Kind.OWN_SKILL: OWN_SKILL}


def plain(token: str) -> str:
    """Return a token for texts that answer nothing which their reader wrote: it is not taken for one."""
    return token.replace("-", "")


def answer_for_extensions(messages: Sequence[JsonObject], turn: Sequence[JsonObject]) -> Reply | None:
    """Call what was asked for, then say what became of it; None for other texts.

    `turn`: the messages of this turn, which may go on after a consent or an answer with the call alone.
    """
    said = [text_of(message) for message in messages if message.get("role") == "user"]
    asked = [match for text in said if (match := ASKS.search(text))]
    results = " ".join(text_of(message) for message in turn if message.get("role") == "tool")
    if not asked or not (results or ASKS.search(str(turn))):
        return None
    token, kind = asked[-1][1], Kind(asked[-1][2])
    if kind in (Kind.SOCKET, Kind.PROGRAM, Kind.PIPES):
        return text(f"{token} acted")
    if any(words in results for words in _UNKNOWN):
        return text(f"{_named(token, kind)} unsure")
    if f"{_named(token, kind)} {_DONE}" in results:
        return text(f"{_named(token, kind)} acted")
    if kind in _USES and "The skill" in results:
        return calls(("act_once", {"token": token}))
    if results:
        return text(f"{token} {results[:300]}")
    return calls(_call(token, kind))


def _call(token: str, kind: Kind) -> tuple[str, JsonObject]:
    wanted: dict[Kind, tuple[str, JsonObject]] = {
        Kind.PRESSED: ("act_approved", {"token": token}),
        Kind.CONSENT: ("act_approved", {"token": plain(token)}),
        Kind.SKILL: ("use_skill", {"name": SKILL}),
        Kind.OWN_SKILL: ("use_skill", {"name": OWN_SKILL}),
        Kind.FIELD: ("OrderAgent", {"token": token}),
    }
    return wanted.get(kind, ("act_asked", {"token": token}))


def _named(token: str, kind: Kind) -> str:
    return plain(token) if kind is Kind.CONSENT else token
