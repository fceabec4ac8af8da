"""Links that exist: an answer's links are compared with those said, fetched and found; the model made up the others."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from core.journal.types import StepKey, StepKind, StepRecord, StepState
from core.language.catalogue import gettext, gettext_noop
from core.llm.types import ChatMessage, Role, ToolCall
from core.loop.outside import OutsideText
from core.tools.addresses import loosely, named_in, roots_of, trimmed

MADE_UP = "link_made_up"
"""The finding under which `trace` shows them."""

LEFT_OUT = gettext_noop("(link left out: I have not seen it myself)")
_MARKDOWN = re.compile(
    r"!?\[(?P<text>[^\[\]]*)\]\(\s*+<?(?P<address>(?:https?:|//|www\.|(?:[\w-]++\.)++[^\W\d_]{2,24}(?=[:/?\#)>\s]))"
    r"[^\s<>()]*+(?:\([^\s<>()]*+\)[^\s<>()]*+)*+)>?[^()]*+\)"
    r"|<(?P<angled>https?://[^\s<>|]+)(?:\|(?P<label>[^<>]*))?>"
    r"|(?P<bare>https?://[^\s<>\"'`{}|\\^\[\]]+)"
    r"|(?<![\w@/:.-])(?P<named>(?:www\.(?:[\w-]+\.)+|(?:[\w-]+\.)+(?=[^\W\d_]{2,24}(?::\d+)?[/?]))[^\W\d_]{2,24}"
    r"(?::\d+)?(?:[/?][^\s<>\"'`{}|\\^\[\]]*)?)",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"(?:https?:)?/*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """An answer whose links exist. `unknown` are the addresses that were neither said, fetched nor found."""

    text: str
    unknown: tuple[str, ...] = ()


@dataclass(slots=True)
class KnownLinks:
    """The addresses that an answer may hold: those said, fetched or found in this turn and before it."""

    _known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, said: Iterable[ChatMessage], new: Iterable[ChatMessage], outside: OutsideText) -> "KnownLinks":
        """Collect the known links. The model's own words in this turn (`new`) do not count, nor does their echo."""
        new = tuple(new)
        wanted = {loosely(address) for message in new for call in message.tool_calls for address in _named(call)}
        addresses = [*outside.addresses, *(address for message in said for address in named_in(message.text))]
        for message in new:
            if message.role is not Role.ASSISTANT:
                # A tool that repeats its arguments, such as "Noted: …", has seen no page.
                echoes = wanted if message.role is Role.TOOL and not message.outside else ()
                addresses += [address for address in named_in(message.text) if loosely(address) not in echoes]
        return cls({key for address in addresses if (key := loosely(address))} | roots_of(addresses))

    def __contains__(self, address: str) -> bool:
        # Browsers take any number of slashes, and none.
        bare = _SCHEME.sub("", address, count=1)
        key = loosely(f"https://{bare}")
        if key is None:
            return not any(letter.isalnum() for letter in bare)
        # Without its query, an address says less than the known address.
        return key in self._known or any(known.startswith(f"{key}?") for known in self._known)


def check_links(reply: str, known: KnownLinks) -> CheckedReply:
    """Return a reply without unknown links, each replaced by a note."""
    unknown: list[str] = []

    def checked(found: re.Match[str]) -> str:
        address = found["address"] or found["angled"] or trimmed(found["bare"] or found["named"])
        if address in known:
            return found[0]
        unknown.append(address)
        rest = found[0][len(address) :] if found["bare"] or found["named"] else ""
        words = (found["text"] or found["label"] or "").strip()
        # Words that are an address themselves would become a link again in the reader's program.
        kept = words if words and not _MARKDOWN.search(words) and "://" not in words else ""
        return f"{kept} {gettext(LEFT_OUT)}".strip() + rest

    return CheckedReply(_MARKDOWN.sub(checked, reply), tuple(unknown))


def _named(call: ToolCall) -> Iterator[str]:
    return named_in(call.arguments)


def links_step(step: int, checked: CheckedReply) -> StepRecord:
    """Write down which links of an answer were made up."""
    key, links = StepKey(step, 0, "#links"), list(checked.unknown)
    return StepRecord(key, StepKind.JUDGE, MADE_UP, StepState.DONE, result={"advice": "", "links": [*links]})
