"""Exact decisions: the words, codes and tokens with which a person decides without a model. Pure."""

import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

_DIGITS = "23456789"
_LETTERS = "ABCDEFGHJKMNPQRTUVWXY"
"""Without those that are read as another, and without S, which a carrier's STOP begins with."""
_CODE = re.compile(rf"[{_DIGITS}{_LETTERS}]{{2,3}}")
_SAID = re.compile(
    r"\s*(?P<verb>ok|okay|no|snooze)(?:\s+(?P<code>[0-9a-z]{2,3}))?(?:\s+(?P<more>[0-9a-z]+))?\s*[.!]*\s*",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(\d{1,3})(m|min|h)", re.IGNORECASE)
ALL = "ALL"
SNOOZE = timedelta(minutes=10)
"""How long a snooze lasts that says no time."""


class Verb(StrEnum):
    """What a button, a form or an exact word does."""

    APPROVE = "approve"
    CANCEL = "cancel"
    EDIT = "edit"
    DETAILS = "details"
    SNOOZE = "snooze"


@dataclass(frozen=True, slots=True)
class ExactReply:
    """An exact word: `code` is empty for a bare one, `ALL` for all. `given` is the number that high risk asks for."""

    verb: Verb
    code: str = ""
    given: str = ""
    snooze: timedelta = SNOOZE


def parse_exact_reply(text: str) -> ExactReply | None:
    """Read a whole message that is an exact decision, whatever the case, spacing and last punctuation; else None."""
    said = _SAID.fullmatch(text)
    if said is None:
        return None
    verb = {"ok": Verb.APPROVE, "okay": Verb.APPROVE, "no": Verb.CANCEL}.get(said["verb"].lower(), Verb.SNOOZE)
    code, more = (said["code"] or "").upper(), said["more"] or ""
    if verb is Verb.SNOOZE:
        span = _span(more)
        return ExactReply(verb, code, snooze=span) if _CODE.fullmatch(code) and span else None
    if code == ALL:
        return ExactReply(verb, ALL) if not more else None
    if code and not _CODE.fullmatch(code):
        return None
    if more and (verb is not Verb.APPROVE or not re.fullmatch(r"\d{6}", more)):
        return None
    return ExactReply(verb, code, more)


def new_codes(many: int = 8) -> list[str]:
    """Make up short codes by chance, a digit and a letter first, longer ones for when those are taken."""
    short = [secrets.choice(_DIGITS) + secrets.choice(_LETTERS) for _ in range(many)]
    long = [
        secrets.choice(_DIGITS) + secrets.choice(_LETTERS) + secrets.choice(_DIGITS + _LETTERS) for _ in range(many)
    ]
    return [*short, *long]


def new_token() -> str:
    """Make up what a card's buttons carry: 128 bits, which still prove nothing by themselves."""
    return secrets.token_urlsafe(16)


def new_number() -> str:
    """Make up the six digits that prove that a number is its owner's."""
    return f"{secrets.randbelow(10**6):06d}"


def button(verb: Verb, token: str) -> str:
    """Write a button's token: the verb and the approval's own."""
    return f"{verb.value}.{token}"


def read_button(data: str) -> tuple[Verb, str] | None:
    """Read a button's or a form's token; None where it is not one of ours."""
    verb, _, token = data.partition(".")
    if verb not in tuple(Verb) or not re.fullmatch(r"[A-Za-z0-9_-]{22}", token):
        return None
    return Verb(verb), token


def _span(text: str) -> timedelta | None:
    if not text:
        return SNOOZE
    said = _SPAN.fullmatch(text)
    if said is None or int(said[1]) == 0:
        return None
    return timedelta(hours=int(said[1])) if said[2].lower() == "h" else timedelta(minutes=int(said[1]))
