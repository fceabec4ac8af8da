"""The access policy and people's roles.

Identities are compared exactly by the provider's ids, never by display names, user names or empty ids.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from core.errors import ConfigError
from core.language.catalogue import gettext_noop


class Policy(StrEnum):
    """How messages from unknown senders are treated."""

    PAIRING = "pairing"
    """They get a code once, by which the operator lets them in."""
    ALLOWLIST = "allowlist"
    """Those on the list are let in; nobody else gets an answer."""
    OPEN = "open"
    """Everybody is let in."""


class PersonRole(StrEnum):
    """A person's role in this deployment; the tier of the same name applies unless they have another."""

    OWNER = gettext_noop("owner")
    MEMBER = gettext_noop("member")
    GUEST = gettext_noop("guest")


class Admission(StrEnum):
    """How a person was let in at an address."""

    OPEN = "open"
    ALLOWLIST = "allowlist"
    PAIRING = "pairing"
    LINK = "link"
    OPERATOR = "operator"


def read_admission(stored: str) -> Admission | None:
    """Return the admission of a stored identity; None for a stranger, which the database stores as an empty text."""
    return Admission(stored) if stored else None


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of the allowlist. `account` is None if the user key alone identifies the person."""

    channel: str
    user_key: str
    account: str | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """The policy with its list. People whom it lets in get `role`; `open_by` is recorded of those let in by OPEN."""

    policy: Policy = Policy.PAIRING
    listed: frozenset[Listed] = frozenset()
    role: PersonRole = PersonRole.MEMBER
    open_by: Admission = Admission.OPEN

    def admits(self, channel: str, account: str, user_key: str) -> Admission | None:
        """Return the admission of an unknown sender, or None if they are not let in."""
        match self.policy:
            case Policy.OPEN:
                return self.open_by
            case Policy.ALLOWLIST if self._lists(channel, account, user_key):
                return Admission.ALLOWLIST
        return None

    def keeps(self, channel: str, account: str, user_key: str, admitted: Admission | None) -> bool:
        """Return whether a person who was let in before, by `admitted`, may still write."""
        if self.policy is Policy.ALLOWLIST and admitted in (Admission.OPEN, Admission.ALLOWLIST):
            return self._lists(channel, account, user_key)
        return admitted is not None

    def _lists(self, channel: str, account: str, user_key: str) -> bool:
        return bool({Listed(channel, user_key), Listed(channel, user_key, account)} & self.listed)


_FORMS = {
    "sms": re.compile(r"sms:(?P<user_key>\+[1-9][0-9]{6,14})"),
    "slack": re.compile(r"slack:(?P<account>T[A-Z0-9]+):(?P<user_key>[UW][A-Z0-9]+)"),
    "telegram": re.compile(r"telegram:(?P<user_key>[1-9][0-9]{0,19})"),
    "email": re.compile(r"email:(?P<user_key>[^\s@<>,;:\"()\[\]\\A-Z]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+)"),
}
_SHOWN = {
    "sms": "sms:+15551234567",
    "slack": "slack:T0123ABC:U0456DEF",
    "telegram": "telegram:123456789",
    "email": "email:ann@example.org",
}


def parse_listed(text: str, subject: str = "ONEVALET_ALLOW has an entry that") -> Listed:
    """Parse an entry of the allowlist, or an address in the same form; `subject` begins the error message.

    Raises `ConfigError`, also for names: they identify nobody, since anybody can take any name.
    """
    channel = text.partition(":")[0]
    form = _FORMS.get(channel)
    match = form.fullmatch(text) if form else None
    if match is None:
        shown = _SHOWN.get(channel) or ", ".join(_SHOWN.values())
        raise ConfigError(f"{subject} names nobody: write it as {shown}.")
    return Listed(channel, **match.groupdict())
