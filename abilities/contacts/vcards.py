"""vCards 2.1, 3.0 and 4.0, as phones, address books and mail programs write them; pure.

Sources: RFC 6350 (4.0), RFC 2426 (3.0), and the vCard 2.1 specification of versit, whose folding and quoted-printable
still come from phones.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from quopri import decodestring

from abilities.contacts.addresses import is_mail, number_of
from abilities.contacts.book import MAX_ADDRESSES, Contact
from onevalet import decode_text, label_of

MAX_CARDS = 1_000
_MAX_BYTES = 2_000_000
_MAX_WORDS = 200
_MAX_LINES = 100
"""Lines of a kind that are read."""
_MAX_NUMBER = 60
_MAX_MAIL = 254
_NO_PHONES = frozenset({"fax", "pager", "modem"})
_FOLD = re.compile(r"\r?\n[ \t]")
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""The marks of UTF-16."""
_LINE = re.compile(r'(?:[\w-]+\.)?([\w-]+)((?:;(?:[^":;]|"[^"]*")*)*):(.*)', re.DOTALL)
_ESCAPE = re.compile(r"\\([\\,;nN])")
_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T.*)?|--(\d\d)-?(\d\d)")
_SLACK = re.compile(r"[UW][0-9A-Z]{6,20}")


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    parameters: dict[str, list[str]]
    value: str


def read_cards(data: bytes, region: str | None, source: str) -> list[Contact]:
    """Return the contacts in a file, without contacts that have no name and numbers that no country uses."""
    cards, lines = list[Contact](), list[_Line]()
    for line in _lines(data[:_MAX_BYTES]):
        if line.name == "begin":
            lines = []
        elif line.name != "end":
            lines.append(line)
        elif (contact := _contact(lines, region, source)) is not None and len(cards) < MAX_CARDS:
            cards.append(contact)
    return cards


def card_lines(text: str) -> list[str]:
    """Return the lines of a card of version 3.0 or 4.0 as they are, unfolded."""
    return [line for line in re.split(r"\r?\n", _FOLD.sub("", text)) if line]


def _lines(data: bytes) -> Iterator[_Line]:
    """Yield the lines of a file. Its bytes are joined first: a fold may stand within a letter (RFC 6350 3.2)."""
    data = decode_text(data).encode() if data.startswith(_WIDE) else data.removeprefix(b"\xef\xbb\xbf")
    unfolded = _FOLD.sub("", data.decode("latin-1"))
    label = label_of(unfolded.encode("latin-1"))
    # Quoted-printable (2.1) continues a line with "=" at its end, everything else with a space at the next line's
    # start.
    for raw in re.split(r"\r?\n", _joined(unfolded)):
        match = _LINE.fullmatch(raw)
        if match is None:
            continue
        parameters = _parameters(match[2])
        yield _Line(match[1].casefold(), parameters, _decoded(match[3], parameters, label))


def _joined(text: str) -> str:
    """Return a text with those lines joined that quoted-printable divides by "=" at their ends."""
    whole, soft = list[str](), False
    for line in text.split("\n"):
        bare = line.rstrip("\r")
        quoted = soft or "quoted-printable" in line.partition(":")[0].casefold()
        more = quoted and bare.endswith("=")
        whole.append(bare[:-1] if more else f"{line}\n")
        soft = more
    return "".join(whole)


def _parameters(text: str) -> dict[str, list[str]]:
    parameters: dict[str, list[str]] = {}
    for part in re.findall(r';((?:[^";]|"[^"]*")*)', text):
        name, equals, value = part.partition("=")
        # In 2.1 a value stands without its name: ;HOME;QUOTED-PRINTABLE
        key = name.casefold() if equals else "encoding" if "printable" in part.casefold() else "type"
        parameters.setdefault(key, []).extend(v.strip('"').casefold() for v in (value if equals else part).split(","))
    return parameters


def _decoded(value: str, parameters: dict[str, list[str]], label: str) -> str:
    """Return the value of a line, under its own character set (2.1) or the file's."""
    data = value.encode("latin-1")
    if "quoted-printable" in parameters.get("encoding", []):
        data = decodestring(data)
    own = next(iter(parameters.get("charset", [])), "")
    return decode_text(data, own or label).rstrip("\r")


def _contact(lines: Sequence[_Line], region: str | None, source: str) -> Contact | None:
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line.name, []).append(line.value)
    name = _words(next(iter(found.get("fn", [])), "")) or _structured(next(iter(found.get("n", [])), ""))
    organization = _words(" ".join(_split(next(iter(found.get("org", [])), ""), ";")))
    kind = plain("".join(found.get("kind", []) + found.get("x-addressbookserver-kind", []))).casefold()
    if not (name or organization) or kind in ("group", "location"):
        return None
    phones = (line for line in lines if line.name == "tel")
    called = [line.value for line in phones if not _NO_PHONES & {*line.parameters.get("type", [])}]
    numbers = (number_of(plain(value).removeprefix("tel:")[:_MAX_NUMBER], region) for value in called[:_MAX_LINES])
    mails = (plain(value).removeprefix("mailto:").strip() for value in found.get("email", [])[:_MAX_LINES])
    slack, telegram = _handles(lines)
    return Contact(
        name or organization,
        tuple(_words(part) for value in found.get("nickname", []) for part in _split(value, ",") if part.strip())[:5],
        "",
        organization if name else "",
        _unique([number for number in numbers if number]),
        _unique([mail for mail in mails if len(mail) <= _MAX_MAIL and is_mail(mail)]),
        slack,
        telegram,
        _birthday(next(iter(found.get("bday", [])), "")),
        "",
        source,
    )


def _handles(lines: Sequence[_Line]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the Slack and Telegram ids of the instant messaging lines, without names that anyone may take."""
    slack, telegram = list[str](), list[str]()
    for line in lines:
        scheme, _, rest = plain(line.value).partition(":")
        service = " ".join([line.name, scheme, *line.parameters.get("x-service-type", [])]).casefold()
        handle = (rest or scheme).strip("/")
        if "slack" in service and _SLACK.fullmatch(handle):
            slack.append(handle)
        if "telegram" in service and handle.isdecimal() and handle.isascii():
            telegram.append(handle)
    return _unique(slack), _unique(telegram)


def _structured(value: str) -> str:
    """Return the name that N states: family, given and additional names."""
    family, given, additional = ([*_split(value, ";"), "", "", ""])[:3]
    return _words(" ".join(part for part in (given, additional, family) if part.strip()))


def _birthday(value: str) -> str:
    match = _DATE.fullmatch(value.strip())
    if match is None:
        return ""
    return f"{match[1]}-{match[2]}-{match[3]}" if match[1] else f"--{match[4]}-{match[5]}"


def _split(value: str, mark: str) -> list[str]:
    return [plain(part) for part in re.split(rf"(?<!\\){re.escape(mark)}", value)]


def plain(value: str) -> str:
    """Return a value without its escapes."""
    return _ESCAPE.sub(lambda escaped: "\n" if escaped[1] in "nN" else escaped[1], value)


def _words(value: str) -> str:
    words = " ".join("".join(char if char.isprintable() else " " for char in plain(value)).split())
    return words[:_MAX_WORDS].rstrip()


def _unique(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))[:MAX_ADDRESSES]
