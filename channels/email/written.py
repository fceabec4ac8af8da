"""A person's new words: a mail's text without quoted history and signature, forwarded text apart; pure.

An unknown mark leaves text in, which does little harm; so nothing is cut on a guess (`quote_marks`), and a person's own
sentence never.
"""

import re
from dataclasses import dataclass

from channels.email.device_lines import is_device_line
from channels.email.quote_marks import (
    attribution_ending_at,
    is_header_block,
    is_original,
    is_passed_on,
    names_address,
)

_SIGNATURE = "-- "
_GREETING = re.compile(
    r"(?:(?:best|kind|warm|many)? ?(?:regards|wishes|thanks)|best|thanks|thank you|thx|cheers|yours|sincerely"
    r"|(?:viele|liebe|beste|herzliche) grüße|mit freundlichen grüßen|grüße|gruß|danke|mfg|lg|vg"
    r"|cordialement|bien à vous|merci|amitiés|un saludo|saludos|gracias|atentamente"
    r"|(?:com os melhores )?cumprimentos|obrigad[oa]|abraço|谢谢)[,.!，。！]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Written:
    """A mail's text in two parts: the person's new words, and the forwarded text."""

    own: str
    forwarded: str = ""


def split_text(text: str, *, passes_on: bool = False, answers: bool = True, ours: str = "") -> Written:
    """Divide a mail's text.

    `passes_on`: its subject says that it forwards a mail; if no mark shows the beginning of that mail, all of the text
    is forwarded. `answers`: it answers a mail, so it may quote a mail. `ours`: the assistant's address, which occurs
    above quotes of the assistant.
    """
    lines = [line.rstrip() if line != _SIGNATURE else line for line in text.replace("\xa0", " ").split("\n")]
    cut = _history_at(lines, ours)
    passed = _passed_on_at(lines, quoted_too=passes_on)
    if passed is None and (passes_on or not answers):
        passed = cut
    # Forwarded text within the quoted history of an answer is history.
    if passed is not None and (cut is None or passed <= cut or passes_on):
        own = _own(lines[:passed], answers=answers)
        return Written(own, "\n".join(lines[passed:]).strip())
    if passes_on:
        return Written("", text.strip())
    return Written(_own(lines[:cut], answers=answers))


def without_signature(text: str) -> str:
    """Return a text without the part below "-- ", and without a telephone's line about itself."""
    lines = text.split("\n")
    if _SIGNATURE in lines:
        lines = lines[: lines.index(_SIGNATURE)]
    while lines and (not lines[-1].strip() or is_device_line(lines[-1])):
        lines.pop()
    return "\n".join(lines).strip()


def alone(text: str, names: str) -> str:
    """Return the first line if only a greeting and the writer's name follow; else the whole text.

    `names`: the writer's name and address. Any other word may change the meaning of the first line.
    """
    first, _, rest = text.partition("\n")
    known = {word for word in re.split(r"[\W_]+", names.casefold()) if word}
    for line in filter(None, (line.strip() for line in rest.split("\n"))):
        words = {word for word in re.split(r"[\W_]+", line.casefold()) if word}
        if not _GREETING.fullmatch(line) and not (words and words <= known):
            return text
    return first.strip()


def _own(lines: list[str], *, answers: bool) -> str:
    return without_signature(_without_quotes(lines, answers=answers))


def _passed_on_at(lines: list[str], *, quoted_too: bool) -> int | None:
    """Return the index of the line that introduces a forwarded mail. Apple Mail quotes such lines, too."""
    said = (line.lstrip("> ") if quoted_too else line for line in lines)
    return next((at for at, line in enumerate(said) if is_passed_on(line)), None)


def _history_at(lines: list[str], ours: str) -> int | None:
    """Return the line from which all is history without ">" marks; None if there is none."""
    below = _below(lines)
    for at, line in enumerate(lines):
        if not line or line.startswith(">"):
            continue
        if is_header_block(lines, at) or is_original(lines, at):
            return at
        if not ours or below[at].startswith(">"):
            continue
        start = attribution_ending_at(lines, at, quoted_below=False)
        if start >= 0 and names_address(" ".join(lines[start : at + 1]), ours):
            return start
    return None


def _without_quotes(lines: list[str], *, answers: bool) -> str:
    """Drop lines that begin with ">", and the attributions above them.

    A person's own quotes stay: those above the first attribution by a program, and those in a mail that answers none.
    """
    below, attributed = _below(lines), dict[int, int]()  # the last line of each attribution, and its first
    for at, line in enumerate(lines):
        if line and not line.startswith(">") and below[at].startswith(">"):
            start = attribution_ending_at(lines, at, quoted_below=True)
            if start >= 0:
                attributed[at] = start
    first = min(attributed.values(), default=0 if answers else len(lines))
    dropped = {one for end, start in attributed.items() for one in range(start, end + 1)}
    kept = [line for at, line in enumerate(lines) if at not in dropped and not (line.startswith(">") and at >= first)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")


def _below(lines: list[str]) -> list[str]:
    """Return for each line the next line that is not empty."""
    below, said = list[str](), ""
    for line in reversed(lines):
        below.append(said)
        said = line or said
    return below[::-1]
