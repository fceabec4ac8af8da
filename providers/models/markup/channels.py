"""The channels in which gpt-oss thinks, calls and answers within a text (OpenAI, "Harmony response format"); pure."""

import re
from dataclasses import dataclass, field

MARK = r"<\|(?:start|channel|message|constrain|end|return|call)\|>"
_MARKS = re.compile(rf"({MARK})")
_LAST = re.compile(r"<\|(?:end|return)\|>\s*\Z")
_CHANNEL = re.compile(r"(?:\A|<\|channel\|>)\s*(analysis|commentary|final)")
_RECIPIENT = re.compile(r"to=(?:functions\.)?([\w.-]+)")
_LOST = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?:(?=[A-Z\d])|(?=[^\W\d_a-zA-Z])|\s?to=)")
_LOST_WORDS = ("assistantanalysis", "assistantcommentary", "analysis", "commentary to=")
_LOST_CUT = re.compile(r"assistant(?=analysis|commentary|final)")
_LOST_CALL = re.compile(r"\s*commentary\s*to=(?:functions\.)?([\w.-]+)\s*(?:code|json)?\s*(?=\{)")


@dataclass(slots=True)
class Channels:
    """The text of the final channel, and the calls: each a name and its arguments."""

    said: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)

    def add(self, header: str, body: str) -> None:
        """Add a message by its header; a message without a channel belongs to the final text."""
        channel, recipient = _CHANNEL.search(header), _RECIPIENT.search(header)
        name = channel[1] if channel else "final"
        if recipient and name != "final" and recipient[1] != "assistant":
            self.calls.append((recipient[1], body.strip()))
        elif name == "final":
            self.said += body


def read_channels(text: str) -> Channels:
    """Read a text with marks. Words outside of messages are thoughts, unless no channel is named."""
    found, header, outside = Channels(), "", ""
    body: list[str] | None = None
    inside, code = False, _Code()
    for part in _MARKS.split(_LAST.sub("", text, count=1)):
        if body is not None and (code.open or not _MARKS.fullmatch(part) or part == "<|constrain|>"):
            body.append(part)
            code.add(part)
        elif not _MARKS.fullmatch(part):
            header, outside = (header + part, outside) if inside else (header, outside + part)
        elif part == "<|message|>":
            header, outside = (header, outside) if inside else (outside, "")
            body, code = [], _Code()
        else:
            if body is not None:
                found.add(header, "".join(body))
                header, body = "", None
            inside = part in ("<|start|>", "<|channel|>", "<|constrain|>")
            header = f"{header} {part}" if inside and part != "<|start|>" else ""
    if body is not None:
        found.add(header, "".join(body))
    if "<|channel|>" not in text and not found.said and not found.calls:
        found.said = outside
    return found


def read_lost(text: str) -> Channels:
    """Read a text whose marks the server took out, and only them: "analysisWe…assistantfinalHello"."""
    found = Channels()
    for part in _LOST_CUT.split(text):
        if called := _LOST_CALL.match(part):
            found.calls.append((called[1], part[called.end() :].strip()))
        elif part.startswith("final"):
            found.said += part.removeprefix("final")
    return found


def are_lost(text: str, *, cut: bool = False) -> bool:
    """Return whether a text is of channels without marks; a single channel may be a name, unless the text was `cut`."""
    return bool(_LOST.match(text)) and (cut or bool(_LOST_CUT.search(text)))


def may_be_lost(begun: str) -> bool:
    """Return whether a text with this beginning may consist of channels without marks."""
    return bool(_LOST.match(begun)) or any(word.startswith(begun[:40].lstrip()) for word in _LOST_WORDS)


class _Code:
    """Whether the end of a text is in code, in which marks are words."""

    def __init__(self) -> None:
        self._fenced = self._ticked = False

    @property
    def open(self) -> bool:
        return self._fenced or self._ticked

    def add(self, text: str) -> None:
        self._fenced ^= bool(text.count("```") % 2)
        line = text.rpartition("\n")
        ticks = bool(line[2].replace("```", "").count("`") % 2)
        self._ticked = ticks if line[1] else self._ticked ^ ticks
