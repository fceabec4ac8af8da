"""The conventions of both directions for mail: our Message-IDs, threads, headers, limits; pure.

Our Message-IDs carry their thread, so that an answer finds its conversation even if the mail program shortens
References. It does not carry the part's own id: recipients in Cc see Message-IDs in References, and must not be able to
forge a bounce with them.
"""

import base64
import hashlib
import re

CHANNEL = "email"
PART_HEADER = "X-OneValet-Part"
"""Our id of the part, which a bounce returns and only its recipient sees."""
FILE_SCHEME = "mail:"
"""The scheme of a reference to a mail's attachment, by UIDVALIDITY, UID and number, in place of a file's URL."""
MAX_MAIL = 30 * 1024 * 1024
"""Bytes of a mail that is read."""
MAX_ATTACHED = 15 * 1024 * 1024
"""Bytes of all files of a mail that we send; base64 adds a third, and many servers take 25 MB."""

_MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,250}>")
_OURS = re.compile(r"<ov-[a-z2-7]{26}(?:\.(?P<thread>[a-z2-7]{16}))?@(?P<domain>[^>]+)>")
_FILE = re.compile(re.escape(FILE_SCHEME) + r"([0-9]{1,10})\.([0-9]{1,10})\.([0-9]{1,3})")


def message_id(ref: str, thread: str, domain: str) -> str:
    """Return the Message-ID of a part, always the same for the same part."""
    after = f".{thread}" if thread else ""
    return f"<ov-{_digest('part ' + ref, 26)}{after}@{domain}>"


def message_ids(text: str) -> tuple[str, ...]:
    """Return the Message-IDs in a header, in order, without malformed ids."""
    return tuple(_MESSAGE_ID.findall(text))


def our_thread(id: str, domain: str) -> str | None:
    """Return the thread of our Message-ID, empty for the top level; None if it is not ours."""
    match = _OURS.fullmatch(id)
    return None if match is None or match["domain"] != domain else match["thread"] or ""


def thread_of(root: str) -> str:
    """Return the name of the thread that a mail begins, from its Message-ID."""
    return _digest(f"thread {root}", 16)


def domain_of(address: str) -> str:
    return address.rpartition("@")[2].lower()


def file_url(uid_validity: int, uid: int, number: int) -> str:
    """Return the reference of a file of a mail, by its number there, from 1."""
    return f"{FILE_SCHEME}{uid_validity}.{uid}.{number}"


def read_file_url(url: str) -> tuple[int, int, int] | None:
    """Return UIDVALIDITY, UID and number; None for any other text."""
    match = _FILE.fullmatch(url)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def _digest(text: str, length: int) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest).decode().lower()[:length]
