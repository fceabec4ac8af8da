"""A model's own markup in its text: thoughts, channels and calls, which no person is to read; pure.

Servers should remove it, and many do not. A mark counts by its place, so that words about marks stay unchanged:

- Within code (between backticks, or in a fence that is closed) and in quotes, marks are words.
- Thoughts and calls begin a line, or follow the end of a sentence or another mark without a space: writers put spaces
around a mark that they mention. Within an answer, thoughts must end too, and no space follows their mark.
- The end of thoughts that the template began has no text on one side of its line, or no space before it. After a
beginning that is only mentioned it must have a line of its own.
- A call must be readable as a call (`written_calls`) after its mark. Within a line it must be the answer's end and name
an offered tool.
- Once a channel of gpt-oss began, only the final channel is shown.

Only a model's text is read, never a person's words. Text without marks comes through unchanged. The work grows as the
text does.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.llm.types import ToolCall, ToolSpec
from providers.models.markup.channels import MARK, Channels, are_lost, may_be_lost, read_channels, read_lost
from providers.models.markup.mark_places import begins_line, is_glued, is_in_code, is_quoted, line_of
from providers.models.markup.written_calls import BEGINS, may_begin, read_calls, written_call

_THOUGHT = (
    r"<(?P<name>(?:seed:|mm:|ant)?(?:think|thinking|thoughts?|reasoning))>"
    r"|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|channel>thought\b"
)
_ENDED = r"</(?:seed:|mm:)?think(?:ing)?>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<channel\|>"
THOUGHTS = re.compile(rf"(?:{_THOUGHT}).*?(?:</(?P=name)>|{_ENDED}|\Z)", re.DOTALL | re.IGNORECASE)
"""Thoughts, if all else is JSON."""
_MARK = re.compile(
    r"(?P<fence>^[ ]{0,3}(?:`{3,}|~{3,}))"
    rf"|(?P<thought>{_THOUGHT})|(?P<ended>{_ENDED})"
    rf"|(?P<channel>{MARK})|(?P<call>{BEGINS})"
    r"|(?P<stop><\|(?:im_end|eot_id|eom_id|endoftext|end_of_text)\|>|<end_of_turn>|<｜end▁of▁sentence｜>)",
    re.MULTILINE | re.IGNORECASE,
)
_ENDS = {
    "[think]": r"\[/THINK\]",
    "◁think▷": "◁/think▷",
    "<|start_thinking|>": r"<\|END_THINKING\|>",
    "<|channel>thought": r"<channel\|>",
}
_PARTIAL = re.compile(
    r"(?:<(?:[/|｜\w][^\n<\[◁]{0,62})?|[\[◁][/\w]{0,63})\Z|^[ ]{0,3}(?:`{1,63}|~{1,63})\Z", re.MULTILINE
)
_WITHIN = re.compile(r"<(?!thought|reasoning)|\[|◁", re.IGNORECASE)
"""Thoughts that may stand within an answer; others are elements of XML there."""
_GOES_ON = re.compile(r"\s*(?:<\|(?:im_start|start_header_id)\|>|<start_of_turn>|<｜User｜>)")
"""A model that writes the next message, too."""
_SOLID = re.compile(r"\S")
_LINKS = frozenset({"and", "or", "…", "...", "/", "und", "oder", "et", "ou", "y", "o", "e", "和", "或"})
"""All that stands between two marks that are only mentioned."""
_LONGEST = 64
"""Characters of the longest mark."""
_CALL_SEEN = 160
"""Characters after its mark by which a call can be told from words."""


@dataclass(frozen=True, slots=True)
class Read:
    """The visible text, and the calls in it. `broken`: a call cannot be read."""

    said: str
    calls: tuple[ToolCall, ...] = ()
    broken: bool = False
    changed: bool = False
    """Whether anything was taken out."""
    opened_elsewhere: bool = False
    """Whether it began with thoughts without saying so."""


class _ThoughtEnds:
    """Looks for the ends of thoughts, at each part of a text once."""

    def __init__(self) -> None:
        self._looked = 0
        self._endless: set[str] = set()

    def find(self, text: str, mark: re.Match[str], *, done: bool) -> re.Match[str] | None:
        """Return the end of the thought that a mark begins; None if there is none, or none yet."""
        opening = mark[0].lower()
        if opening in self._endless:
            return None
        ends = re.compile(_ENDS.get(opening) or f"</{re.escape(mark['name'])}>", re.IGNORECASE)
        self._looked = max(self._looked, mark.end())
        while end := ends.search(text, self._looked):
            in_code = is_in_code(text, end, done=done)
            if in_code is None:
                return None
            if not in_code and not is_quoted(text, end):
                return end
            self._looked = end.end()
        if done:
            self._endless.add(opening)
        self._looked = 0 if done else max(mark.end(), len(text) - _LONGEST)
        return None


class MarkupReader:
    """Reads a text as it is written. `waits`: nothing is said before thoughts end, or the answer does."""

    def __init__(self, offered: Mapping[str, ToolSpec], *, waits: bool = False) -> None:
        self.text = ""
        self._offered, self._waits = offered, waits
        self._told = 0
        self._begin(fences=True)

    def _begin(self, *, fences: bool) -> None:
        self._said = ""
        self._calls: list[ToolCall] = []
        self._broken = self._changed = self._elsewhere = self._mentioned = False
        self._in_prose = False
        """Whether a mark of channels was mentioned: others may follow it without a space."""
        self._held = False
        """Whether the rest can be read only as a whole."""
        self._at = self._scanned = 0
        """The places up to which the text is decided, and searched for marks."""
        self._ends = _ThoughtEnds()
        self._fences = fences
        self._fence: re.Pattern[str] | None = None

    def feed(self, text: str) -> str:
        """Take more text; return the text that can be shown by now."""
        self.text += text
        if not self._held:
            self._go_on(done=False, cut=False)
        return self.rest()

    def end(self, *, cut: bool = False) -> Read:
        """Return the visible text and the calls. `cut`: at its maximum length, so thoughts may lack their end."""
        self._held = self._waits = False
        self._go_on(done=True, cut=cut)
        if self._fence:
            self._begin(fences=False)  # a fence without an end protects nothing
            self._go_on(done=True, cut=cut)
        said = self._said = self._said.strip() if self._changed else self._said
        return Read(said, tuple(self._calls), self._broken, self._changed, self._elsewhere)

    def rest(self) -> str:
        """Return the text that can be shown and was not returned before."""
        if self._waits:
            return ""
        told, self._told = self._told, max(len(self._said), self._told)
        return self._said[told:]

    def _go_on(self, *, done: bool, cut: bool) -> None:
        if not self._at and not done and may_be_lost(self.text):
            return
        if not self._at and done and are_lost(self.text, cut=cut):
            self._take_channels(read_lost(self.text))
            return
        while not self._fence or self._leave(self._fence, done=done):
            mark = _MARK.search(self.text, self._scanned)
            if mark is None:
                break
            if not self._take(mark, done=done, cut=cut):
                self._scanned = mark.start()
                self._say(mark.start())
                return
        else:
            return
        end = len(self.text)
        if not done and (partial := _PARTIAL.search(self.text, max(self._scanned, end - _LONGEST))):
            end = partial.start()
        self._scanned = max(self._scanned, end)
        self._say(self._scanned)

    def _take(self, mark: re.Match[str], *, done: bool, cut: bool) -> bool:
        """Decide on a mark; return False if more text is needed."""
        if mark.lastgroup == "fence":
            return self._enter_fence(mark, done=done)
        in_code = is_in_code(self.text, mark, done=done)
        if in_code is None:
            return False
        if in_code:
            return self._words(mark)
        match mark.lastgroup:
            case "thought":
                return self._thought(mark, done=done, cut=cut)
            case "ended":
                return self._thoughts_ended(mark, done=done)
            case "channel":
                return self._channel(mark, done=done)
            case "call":
                return self._call(mark, done=done)
        return self._stop(mark, done=done)

    def _enter_fence(self, mark: re.Match[str], *, done: bool) -> bool:
        line_end = self.text.find("\n", mark.end())
        if line_end < 0 and not done:
            return False
        if not self._fences or line_end < 0 or "`" in self.text[mark.end() : line_end]:
            return self._words(mark)
        ticks = mark[0].lstrip()
        self._fence = re.compile(rf"^[ ]{{0,3}}{ticks[0]}{{{len(ticks)},}}[ \t]*$", re.MULTILINE)
        self._scanned = line_end
        return True

    def _leave(self, fence: re.Pattern[str], *, done: bool) -> bool:
        closing = fence.search(self.text, self._scanned)
        if closing and (done or closing.end() < len(self.text)):
            self._scanned, self._fence = closing.end(), None
            return True
        self._scanned = max(self._scanned, self.text.rfind("\n"))
        self._say(self._scanned)
        return False

    def _thought(self, mark: re.Match[str], *, done: bool, cut: bool) -> bool:
        first = not _SOLID.search(self._said) and not _SOLID.search(self.text, self._at, mark.start())
        if not first and not (begins_line(self.text, mark) and _WITHIN.match(mark[0])):
            self._mentioned = True
            return self._words(mark)
        spaced = self.text[mark.end() : mark.end() + 1] == " "
        end = self._ends.find(self.text, mark, done=done)
        if end:
            linked = self.text[mark.end() : min(end.start(), mark.end() + 9)].strip() in _LINKS
            if linked or (spaced and not first):
                self._mentioned = True
                return self._words(mark)
            return self._take_out(mark.start(), end.end())
        if not done:
            return False
        if (first and not spaced) or cut:
            return self._take_out(mark.start(), len(self.text))
        self._mentioned = True
        return self._words(mark)

    def _thoughts_ended(self, mark: re.Match[str], *, done: bool) -> bool:
        if is_quoted(self.text, mark):
            return self._words(mark)
        more = _SOLID.search(self.text, mark.end())
        if not more and not done:
            return False
        begins = not _SOLID.search(self.text, line_of(self.text, mark), mark.start())
        ends = more is not None and "\n" in self.text[mark.end() : more.start()]
        if not ((begins and ends) if self._mentioned else (begins or ends or is_glued(self.text, mark))):
            return self._words(mark)
        self._said, self._calls, self._broken, self._told = "", [], False, 0
        self._elsewhere = True
        self._at = mark.start()
        return self._take_out(mark.start(), mark.end())

    def _channel(self, mark: re.Match[str], *, done: bool) -> bool:
        self._in_prose |= is_quoted(self.text, mark) or not (begins_line(self.text, mark) or is_glued(self.text, mark))
        if self._in_prose:
            return self._words(mark)
        self._held = not done
        if done:
            self._elsewhere = bool(_SOLID.search(self.text, 0, mark.start())) and "<|channel|>" in self.text
            self._take_channels(read_channels(self.text))
        return done

    def _take_channels(self, channels: Channels) -> None:
        self._said, self._told = channels.said, 0
        self._calls = [written_call(name, arguments) for name, arguments in channels.calls]
        self._changed, self._broken = True, False
        self._at = self._scanned = len(self.text)

    def _call(self, mark: re.Match[str], *, done: bool) -> bool:
        if not done and len(self.text) - mark.end() < _CALL_SEEN:
            return False
        if not may_begin(self.text, mark.end()) or is_quoted(self.text, mark):
            return self._words(mark)
        self._held = not done
        if not done:
            return False
        found = read_calls(self.text, mark.start(), self._offered)
        known = bool(found.calls) and not found.broken and all(call.name in self._offered for call in found.calls)
        within = not begins_line(self.text, mark)
        if found.end == mark.start() or (within and not (known and not _SOLID.search(self.text, found.end))):
            return self._words(mark)
        self._calls += found.calls
        self._broken |= found.broken
        return self._take_out(mark.start(), found.end)

    def _stop(self, mark: re.Match[str], *, done: bool) -> bool:
        """Remove the mark of an answer's end if it is the end."""
        if _SOLID.search(self.text, mark.end()) and not _GOES_ON.match(self.text, mark.end()):
            return self._words(mark) if done or len(self.text) - mark.end() > _LONGEST else False
        if done and (begins_line(self.text, mark) or is_glued(self.text, mark)):
            return self._take_out(mark.start(), len(self.text))
        return self._words(mark) if done else False

    def _words(self, mark: re.Match[str]) -> bool:
        self._scanned = mark.end()
        return True

    def _take_out(self, start: int, end: int) -> bool:
        self._say(start)
        self._at = self._scanned = end
        self._changed, self._waits = True, False
        return True

    def _say(self, end: int) -> None:
        if end > self._at:
            piece = self.text[self._at : end]
            self._said += piece.lstrip() if self._changed and not self._said else piece
            self._at = end
