"""Exact decisions: the words, codes and tokens by which a person decides without a model. Pure."""

import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from core.ids import PARTITION

_DIGITS = "23456789"
_LETTERS = "ABCDEFGHJKMNPQRTUVWXY"
"""Without letters that look like others, and without S, with which a carrier's STOP begins."""
_CODE = re.compile(rf"[{_DIGITS}{_LETTERS}]{{2,3}}")
_TOKEN = re.compile(rf"{PARTITION}[A-Za-z0-9_-]{{22}}")
_LIKE_A_CODE = re.compile(r"(?![0-9](?:AM|PM|ST|ND|RD|TH))[0-9][A-Z][0-9A-Z]?")
"""A text that can only be meant as a code, mistyped or not: neither a time nor an ordinal."""
_REPLY = re.compile(
    r"\s*(?P<verb>ok|okay|no|nein|non|n[aã]o|snooze)(?:\s+(?P<code>[0-9a-z]{2,3}))?(?:\s+(?P<more>[0-9a-z]+))?\s*[.!]*\s*",
    re.IGNORECASE,
)
_NO = frozenset({"no", "nein", "non", "não", "nao"})
"""Other languages than English need a code: a bare word is for the model, which knows the question."""
_NO_TO_ALL = re.compile(
    r"\s*(?:nein,? (?:zu )?alle[ns]?|non,? (?:à )?(?:tout|tous|toutes)|no,? a tod[oa]s?|n[aã]o,? a (?:tudo|tod[oa]s)"
    r"|全部取消)\s*[.!。！]*\s*",
    re.IGNORECASE,
)
"""Refusals only: approving all takes the card's own words. "No todos" is left out, for it means "not all"."""
_EDIT = re.compile(r"\s*(?P<verb>edit)\s+(?P<code>[0-9a-z]{2,3})(?:[\s.!,:]+.*)?", re.IGNORECASE | re.DOTALL)
_SPAN = re.compile(r"(\d{1,3})(m|min|h)", re.IGNORECASE)
ALL = "ALL"
SNOOZE = timedelta(minutes=10)
"""The length of a snooze without a time."""


class Verb(StrEnum):
    """The effect of a button, a form or an exact word."""

    APPROVE = "approve"
    CANCEL = "cancel"
    EDIT = "edit"
    DETAILS = "details"
    SNOOZE = "snooze"


@dataclass(frozen=True, slots=True)
class ExactReply:
    """An exact decision. `code` is None for a bare word, `ALL` for all; high risk needs `confirmation_number`.

    EDIT decides nothing by itself: the model reads the words after its code.
    """

    verb: Verb
    code: str | None = None
    confirmation_number: str | None = None
    snooze: timedelta = SNOOZE

    @property
    def names_code(self) -> bool:
        """Return whether the code can be nothing but a code, even if no approval has it."""
        return _LIKE_A_CODE.fullmatch(self.code or "") is not None


def parse_exact_reply(text: str) -> ExactReply | None:
    """Parse a message that is nothing but an exact decision, in any case and spacing; None for any other."""
    if _NO_TO_ALL.fullmatch(text):
        return ExactReply(Verb.CANCEL, ALL)
    match = _REPLY.fullmatch(text)
    if match is None:
        return _parse_edit(text)
    word, code, more = match["verb"].lower(), (match["code"] or "").upper(), match["more"] or ""
    if word in _NO - {"no"} and not _LIKE_A_CODE.fullmatch(code):
        return None
    verb = Verb.APPROVE if word in ("ok", "okay") else Verb.CANCEL if word in _NO else Verb.SNOOZE
    if verb is Verb.SNOOZE:
        span = _span(more)
        return ExactReply(verb, code, snooze=span) if _may_be_code(code) and span else None
    if code == ALL:
        return ExactReply(verb, ALL) if not more else None
    if code and not _may_be_code(code):
        return None
    if more and (verb is not Verb.APPROVE or not re.fullmatch(r"\d{6}", more)):
        return None
    return ExactReply(verb, code or None, more or None)


def _parse_edit(text: str) -> ExactReply | None:
    """Parse EDIT with a code, written as on the card: "edit 5k run" in small letters is about something else."""
    match = _EDIT.fullmatch(text)
    if match is None or not (match["verb"].isupper() or match["code"].isupper()):
        return None
    reply = ExactReply(Verb.EDIT, match["code"].upper())
    return reply if reply.names_code else None


def _may_be_code(code: str) -> bool:
    return bool(_CODE.fullmatch(code) or _LIKE_A_CODE.fullmatch(code))


def new_codes() -> list[str]:
    """Return random short codes, a digit and a letter each, then longer codes in case the short codes are taken."""
    codes = [secrets.choice(_DIGITS) + secrets.choice(_LETTERS) for _ in range(16)]
    return [*codes[:8], *(code + secrets.choice(_DIGITS + _LETTERS) for code in codes[8:])]


def new_number() -> str:
    """Return the six random digits that prove that a phone number is its owner's."""
    return f"{secrets.randbelow(10**6):06d}"


def button(verb: Verb, token: str) -> str:
    return f"{verb.value}.{token}"


def read_button(data: str) -> tuple[Verb, str] | None:
    """Parse a button's or a form's token; None for a foreign token."""
    verb, _, token = data.partition(".")
    if verb not in tuple(Verb) or not _TOKEN.fullmatch(token):
        return None
    return Verb(verb), token


def _span(text: str) -> timedelta | None:
    if not text:
        return SNOOZE
    match = _SPAN.fullmatch(text)
    if match is None or int(match[1]) == 0:
        return None
    return timedelta(hours=int(match[1])) if match[2].lower() == "h" else timedelta(minutes=int(match[1]))
