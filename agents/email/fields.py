"""What the fields of an email may hold."""

from collections.abc import Sequence

from onevalet import as_mailed, gettext, is_address

MAX_RECIPIENTS = 50
LOOKS_LIKE_ONE = r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+"


def are_addresses(given: Sequence[str]) -> str | None:
    """Return what is wrong with recipients."""
    if len(given) > MAX_RECIPIENTS:
        return gettext("these are more than {number} addresses", number=MAX_RECIPIENTS)
    wrong = [address for address in given if not is_address(address)]
    return gettext("“{text}” is no email address", text=wrong[0]) if wrong else None


def are_some_addresses(given: Sequence[str]) -> str | None:
    """Return what is wrong with recipients of whom there must be one."""
    return are_addresses(given) if given else gettext("it is empty")


def is_one_line(given: str) -> bool:
    return len(given) <= 500 and given.isprintable()


def as_read(address: str) -> str:
    """Return the domain of an address beside what DNS writes for it, which no lookalike letters disguise."""
    domains = [text.rpartition("@")[2] for text in (address, as_mailed(address))]
    return "" if domains[0] == domains[1] else gettext("{domain} is {code}", domain=domains[0], code=domains[1])
