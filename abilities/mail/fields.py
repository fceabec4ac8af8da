"""The valid values of an email's fields."""

from collections.abc import Sequence

from onevalet import InputField, as_mailed, gettext, gettext_noop, is_address

MAX_RECIPIENTS = 50
_LOOKS_LIKE_ONE = r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+"
_AN_ADDRESS = gettext_noop("each must be an address such as sam@example.com, without a name")


def address_field(prompt: str, description: str, *, required: bool = False) -> InputField:
    """Return a field of email addresses; without `required` it may stay empty."""
    return InputField(
        prompt,
        description=description,
        type=list[str],
        required=required,
        default=None if required else [],
        validator=are_some_addresses if required else are_addresses,
        pattern=_LOOKS_LIKE_ONE,
        validator_description=_AN_ADDRESS,
    )


def are_addresses(given: Sequence[str]) -> str | None:
    """Return the problem with the recipients, or None."""
    if len(given) > MAX_RECIPIENTS:
        return gettext("these are more than {number} addresses", number=MAX_RECIPIENTS)
    wrong = [address for address in given if not is_address(address)]
    return gettext("“{text}” is not an email address", text=wrong[0]) if wrong else None


def are_some_addresses(given: Sequence[str]) -> str | None:
    """Return the problem with the recipients, of whom at least one is required."""
    return are_addresses(given) if given else gettext("it is empty")


def is_one_line(given: str) -> bool:
    return len(given) <= 500 and given.isprintable()


def as_read(address: str) -> str:
    """Return the domain of an address and its form in DNS, which reveals lookalike letters; empty if both are equal."""
    domains = [text.rpartition("@")[2] for text in (address, as_mailed(address))]
    return "" if domains[0] == domains[1] else gettext("{domain} is {code}", domain=domains[0], code=domains[1])
