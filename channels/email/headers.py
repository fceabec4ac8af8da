"""A mail's headers: its author, its thread, and whether a person wrote it; pure.

Python's own reading of addresses takes `ann@example.org)bob@example.net` for two, so a From is read here, strictly.
"""

import re
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime

from core.notifications.mail_addresses import read_mail_address
from providers.email.wire import message_ids, our_thread, thread_of

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_NAMED = re.compile(r"[^<>@,;:]*<(?P<address>[^<>\s]{3,254})>\s*")
_PREFIX = re.compile(
    r"\s*(?:re|aw|sv|antw|antwort|rép|res|rif|odp|ynt|vá|ответ|回复|答复|回覆|返信|답장|회신)\s*(?:\[\d+\]|\(\d+\)|\^\d+)?"
    r"\s*[:：]\s*",
    re.IGNORECASE,
)
_PASSED_ON = re.compile(
    r"\s*(?:fwd?|wg|tr|rv|enc|i|doorst|vb|vl|pd|ilt|i̇lt|转发|轉寄|轉發|転送|전달)\s*[:：]\s*", re.IGNORECASE
)
_END = re.compile(rb"\n\r?\n")
_OTHER_ENDS = re.compile(rb"\r(?!\n)|\0")
_LONE_FEED = re.compile(rb"(?<!\r)\n")
_SPACED_FROM = re.compile(r"From[ \t]*:")
"""A From with a space before its colon, which Python takes for the first line of an mbox."""
_LENGTH = re.compile(r"(?:^|;)\s*l\s*=")
_SPECIAL = re.compile(r"[<>@,;:\"\\]")
"""Special characters of an address: a comment that contains them is an address to some programs."""
_BULK = frozenset({"bulk", "list", "junk", "auto_reply"})
_LISTS = ("List-Id", "List-Post", "List-Unsubscribe", "Mailing-List", "X-Autoreply", "X-Autorespond", "Feedback-ID")
_DAEMONS = re.compile(r"(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)(?:[+=-].*)?@.*", re.IGNORECASE)


def values(message: Message, name: str) -> list[str]:
    """Return a header's values, the topmost first, each on a single line."""
    return [" ".join(str(value).split()) for value in message.get_all(name, [])]


def value(message: Message, name: str) -> str:
    """Return a header that occurs once; empty if it is missing or repeated."""
    found = values(message, name)
    return found[0] if len(found) == 1 else ""


def has_one_reading(raw: bytes, message: Message, *, whole: bool) -> bool:
    """Return whether every program finds the same headers in a mail, or in its beginning; `message` is parsed from it.

    If programs disagree about the end of a line or of the headers, a From can be hidden or added ("Composition Kills",
    USENIX Security 2020; SMTP smuggling, CERT/CC VU#302671).
    """
    end = _END.search(raw)
    head = raw[: end.end()] if end else raw
    if _OTHER_ENDS.search(head) or (b"\r\n" in head and _LONE_FEED.search(head)):
        return False
    if end is None and not whole:
        return True
    return not message.defects and not _SPACED_FROM.match(message.get_unixfrom() or "")


def signs_a_part(message: Message) -> bool:
    """Return whether a signature covers only the beginning of a mail: the rest can be forged (RFC 6376 8.2)."""
    return any(_LENGTH.search(signature) for signature in values(message, "DKIM-Signature"))


def read_from(message: Message) -> str:
    """Return the address of a mail's only sender, in lower case; empty if there is none, or several."""
    text = value(message, "From")
    said = _without_comments(text)
    if any(re.search("[<>]", quoted) for quoted in _QUOTED.findall(said)):
        return ""  # programs that look for the first <…> find another address
    plain = _QUOTED.sub(lambda quoted: re.sub(r"[@,;:]", " ", quoted[1]), said)
    match = _NAMED.fullmatch(plain.strip())
    address = read_mail_address(match["address"] if match else plain.strip())
    if not address or not address.isascii() or "=?" in address:  # which some programs decode
        return ""
    # No two people differ only by the case of their address.
    return address.lower()


def plain_subject(subject: str) -> str:
    """Return a subject without the prefixes that programs add to answers."""
    while match := _PREFIX.match(subject):
        subject = subject[match.end() :]
    return subject.strip()


def passes_on(subject: str) -> bool:
    """Return whether a subject says that something is forwarded."""
    return _PASSED_ON.match(subject) is not None


def own_id(message: Message) -> str:
    """Return a mail's Message-ID; empty if it has none that can be written into another mail."""
    return next(iter(message_ids(value(message, "Message-ID"))), "")


def referred(message: Message) -> tuple[str, ...]:
    """Return the Message-IDs that a mail refers to, the first of its thread first, the answered mail last."""
    return (*message_ids(value(message, "References")), *message_ids(value(message, "In-Reply-To")))


def read_thread(message: Message, domain: str) -> str:
    """Return the thread that a mail belongs to: that of the newest mail of ours in it, else that of its first mail."""
    ids = referred(message)
    for id in reversed(ids):
        if (thread := our_thread(id, domain)) is not None:
            return thread
    root = (*ids, own_id(message))[0]
    return thread_of(root) if root else ""


def sent_at(message: Message) -> datetime | None:
    try:
        at = parsedate_to_datetime(value(message, "Date"))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def is_automatic(message: Message, sender: str) -> bool:
    """Return whether a program wrote a mail, which is never answered (RFC 3834)."""
    submitted = value(message, "Auto-Submitted").partition(";")[0].strip().lower()
    if submitted not in ("", "no") or len(values(message, "Auto-Submitted")) > 1:
        return True
    if any(word.lower() in _BULK for word in values(message, "Precedence")):
        return True
    if any(name in message for name in _LISTS) or "<>" in values(message, "Return-Path"):
        return True
    return message.get_content_type() == "multipart/report" or _DAEMONS.fullmatch(sender) is not None


def _without_comments(text: str) -> str:
    """Return a header without comments; empty if a comment or a quote is left open, or a comment may be an address."""
    kept, depth, at, begun = list[str](), 0, 0, 0
    while at < len(text):
        if text[at] == '"' and not depth:
            quoted = _QUOTED.match(text, at)
            if quoted is None:
                return ""
            kept.append(quoted[0])
            at = quoted.end()
            continue
        if text[at] == "(":
            begun = begun if depth else at
            depth += 1
        elif text[at] == ")" and depth:
            depth -= 1
            if not depth and _SPECIAL.search(text, begun, at):
                return ""
        elif not depth:
            kept.append(text[at])
        at += 1
    return "" if depth else "".join(kept)
