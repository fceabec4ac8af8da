"""Email addresses, with domains in any script; pure."""

import re
from email.utils import formataddr, parseaddr

_EMAIL = re.compile(r"[^\s@<>,;:\"()\[\]\\\x00-\x1f\x7f]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)+")
_LONGEST = 254


def read_mail_address(text: str) -> str:
    """Return an address with its domain as DNS writes it (RFC 5891), in lower case; empty if the text is no address."""
    local, _, domain = text.strip().rpartition("@")
    address = f"{local}@{_in_ascii(domain)}"
    return address if _EMAIL.fullmatch(address) and len(address) <= _LONGEST else ""


def read_sender(text: str) -> str:
    """Return a From, an address or `Name <address>`, with its domain as DNS writes it; empty if the text is neither."""
    name, address = parseaddr(text)
    if not text.isprintable() or not (read := read_mail_address(address)):
        return ""
    return text if address.isascii() else formataddr((name, read))


def _in_ascii(domain: str) -> str:
    if domain.isascii():
        return domain.lower()
    import idna  # its tables take a while, and almost every domain is in ASCII

    try:
        return idna.encode(domain, uts46=True, std3_rules=True).decode()
    except idna.IDNAError:
        return ""
