"""What a person wrote now: a mail's text without quoted history and signature, forwarded text apart; pure.

Mail programs mark what they quote in a handful of ways, each in its user's language. A mark that is not known leaves
text in, which does little harm; so nothing is cut on a guess.
"""

import re
from dataclasses import dataclass

_OPENINGS = ("On ", "Am ", "Le ", "El ", "Em ", "A ", "在")
_CLOSINGS = re.compile(r"(?: wrote| schrieb .{1,200}| a écrit ?| escribió| escreveu|写道)[:：]")
"""The line above a quote, such as "On Monday Ann wrote:"; programs break it into up to three lines."""
_ATTRIBUTION_LINES, _ATTRIBUTION_LENGTH = 3, 400
_DASHED = r"Original Message|Ursprüngliche Nachricht|Message d['’]origine|Mensaje original|Mensagem original|原始邮件"
_ORIGINAL = re.compile(rf"^[ \t]*-{{2,}}[ \t]*(?:{_DASHED})[ \t]*-{{2,}}$", re.IGNORECASE | re.MULTILINE)
_PASSED_ON = (
    r"Forwarded message|Weitergeleitete Nachricht|Message transféré|Mensaje reenviado"
    r"|Mensagem (?:encaminhada|reencaminhada)|转发(?:的)?邮件"
)
_BEGINS = (
    r"Begin forwarded message|Anfang der weitergeleiteten (?:Nachricht|E-Mail)|Début du message (?:transféré|réexpédié)"
    r"|Inicio del mensaje reenviado|Início da mensagem (?:encaminhada|reencaminhada)|开始转发的邮件|以下是转发的邮件"
)
_FORWARDED = re.compile(
    rf"^[ \t]*(?:-{{3,}}[ \t]*(?:{_PASSED_ON})[ \t]*-{{3,}}|(?:{_BEGINS}) ?[:：])$", re.IGNORECASE | re.MULTILINE
)
_FROM, _DATE = "From|Von|De|发件人", "Sent|Date|Gesendet|Datum|Envoyé|Enviado|Enviada|Fecha|Data|发送时间|日期"
_ABOUT = "Subject|Betreff|Objet|Asunto|Assunto|主题"
_HEADERS = re.compile(
    rf"^(?:_{{10,}}\n+)?\*?(?:{_FROM})\*?\s?[:：]\*?[^\n]+\n(?:[^\n]*\n){{0,4}}?\*?(?:{_DATE})\*?\s?[:：][^\n]+\n"
    rf"(?:[^\n]*\n){{0,4}}?\*?(?:{_ABOUT})\*?\s?[:：]",
    re.MULTILINE,
)
"""The block of headers that Outlook puts above what it quotes or passes on."""
_SIGNATURE = re.compile(r"^-- ?$", re.MULTILINE)
_DEVICE = re.compile(
    r"(?:Sent from (?:my|a|Mail|Outlook|Gmail|Yahoo|Proton|Samsung)\b.{0,40}|Get Outlook for .{1,40}"
    r"|Von meinem .{1,40} gesendet|Gesendet (?:von|mit) .{1,60}"
    r"|Envoyé (?:de|depuis|à partir) .{1,60}|Enviado (?:desde|do|a partir) .{1,60}|发自我的.{1,20})",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:(?:best|kind|warm|many)? ?(?:regards|wishes|thanks)|best|thanks|thank you|thx|cheers|yours|sincerely"
    r"|(?:viele|liebe|beste|herzliche) grüße|mit freundlichen grüßen|grüße|gruß|danke|mfg|lg|vg"
    r"|cordialement|bien à vous|merci|amitiés|un saludo|saludos|gracias|atentamente"
    r"|(?:com os melhores )?cumprimentos|obrigad[oa]|abraço|谢谢)[,.!，。！]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Written:
    """A mail's text in two: the person's own words of now, and what they passed on."""

    own: str
    forwarded: str = ""


def split_text(text: str, *, passes_on: bool = False) -> Written:
    """Divide a mail's text. `passes_on`: its subject says that something is forwarded.

    Where that is said and nothing shows where it begins, all of it is somebody else's.
    """
    text = "\n".join(line.rstrip() if line != "-- " else line for line in text.splitlines())
    mark = _FORWARDED.search(text) or (_HEADERS.search(text) if passes_on else None)
    cuts = [found.start() for found in (_ORIGINAL.search(text), _HEADERS.search(text)) if found]
    # What was passed on in the history that an answer quotes is history.
    if mark is not None and (passes_on or mark.start() <= min(cuts, default=mark.start())):
        return Written(without_signature(_without_quotes(text[: mark.start()])), text[mark.start() :].strip())
    if passes_on:
        return Written("", text.strip())
    return Written(without_signature(_without_quotes(text[: min(cuts, default=len(text))])))


def without_signature(text: str) -> str:
    """Return a text without what stands below "-- ", and without a telephone's line about itself."""
    if (mark := _SIGNATURE.search(text)) is not None:
        text = text[: mark.start()]
    lines = text.strip().split("\n")
    while lines and (not lines[-1].strip() or _DEVICE.fullmatch(lines[-1].strip())):
        lines.pop()
    return "\n".join(lines).strip()


def alone(text: str, names: str) -> str:
    """Return the first line where nothing follows but a greeting and the writer's name; else the whole text.

    `names`: the writer's name and address. A word of anything else may change what the first line means.
    """
    first, _, rest = text.partition("\n")
    known = {word for word in re.split(r"[\W_]+", names.casefold()) if word}
    for line in filter(None, (line.strip() for line in rest.split("\n"))):
        words = {word for word in re.split(r"[\W_]+", line.casefold()) if word}
        if not _GREETING.fullmatch(line) and not (words and words <= known):
            return text
    return first.strip()


def _without_quotes(text: str) -> str:
    """Drop lines that begin with ">", and the line above them that says whose they are.

    Where such a line has no ">" below it, all that follows is quoted.
    """
    lines, kept, at = text.split("\n"), list[str](), 0
    while at < len(lines):
        length = _attribution(lines[at : at + _ATTRIBUTION_LINES])
        if length:
            below = next((line for line in lines[at + length :] if line), "")
            if not below.startswith(">"):
                break
            at += length
            continue
        if not lines[at].startswith(">"):
            kept.append(lines[at])
        at += 1
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _attribution(lines: list[str]) -> int:
    """Return of how many lines the attribution is that begins here; 0 where none does."""
    if not lines[0].startswith(_OPENINGS):
        return 0
    for length in range(1, len(lines) + 1):
        said = " ".join(lines[:length])
        if len(said) > _ATTRIBUTION_LENGTH:
            return 0
        if (found := list(_CLOSINGS.finditer(said))) and found[-1].end() == len(said):
            return length
    return 0
