"""Who may come in: the access policy, and people's roles.

An identity is compared exactly, as its provider gives it: never a display name, a user name or an empty id.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from core.errors import ConfigError


class Policy(StrEnum):
    """What becomes of a message from somebody we do not know."""

    PAIRING = "pairing"
    """They get a code once; who runs us lets them in by it."""
    ALLOWLIST = "allowlist"
    """Who is listed comes in; nobody else gets an answer."""
    OPEN = "open"
    """Everybody comes in."""


class PersonRole(StrEnum):
    """What a person is to this deployment; the tier of that name counts unless they have another."""

    OWNER = "owner"
    MEMBER = "member"
    GUEST = "guest"


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of the allowlist. `account` is empty where the user key alone says who it is."""

    channel: str
    user_key: str
    account: str = ""


@dataclass(frozen=True, slots=True)
class Access:
    """The policy with its list. `role` is what whoever comes in by the policy becomes.

    `open_by` is what is noted of those whom an open policy lets in.
    """

    policy: Policy = Policy.PAIRING
    listed: frozenset[Listed] = frozenset()
    role: PersonRole = PersonRole.MEMBER
    open_by: str = "open"

    def admits(self, channel: str, account: str, user_key: str) -> str:
        """Say by what an unknown sender is let in, such as `allowlist`; empty when not."""
        match self.policy:
            case Policy.OPEN:
                return self.open_by
            case Policy.ALLOWLIST if self._lists(channel, account, user_key):
                return "allowlist"
        return ""

    def keeps(self, channel: str, account: str, user_key: str, admitted: str) -> bool:
        """Return whether somebody who was let in before, by `admitted`, still may write."""
        if self.policy is Policy.ALLOWLIST and admitted in ("open", "allowlist"):
            return self._lists(channel, account, user_key)
        return bool(admitted)

    def _lists(self, channel: str, account: str, user_key: str) -> bool:
        return bool({Listed(channel, user_key), Listed(channel, user_key, account)} & self.listed)


_FORMS = {
    "sms": re.compile(r"sms:(?P<user_key>\+[1-9][0-9]{6,14})"),
    "slack": re.compile(r"slack:(?P<account>T[A-Z0-9]+):(?P<user_key>[UW][A-Z0-9]+)"),
    "telegram": re.compile(r"telegram:(?P<user_key>[1-9][0-9]{0,19})"),
}
_SHOWN = {"sms": "sms:+15551234567", "slack": "slack:T0123ABC:U0456DEF", "telegram": "telegram:123456789"}


def parse_listed(text: str, what: str = "ONEVALET_ALLOW has an entry that") -> Listed:
    """Read an entry of the allowlist, or an address like one (`what`).

    Raises `ConfigError`: names are no identities, anybody can take one."""
    channel = text.partition(":")[0]
    form = _FORMS.get(channel)
    found = form.fullmatch(text) if form else None
    if found is None:
        shown = _SHOWN.get(channel) or ", ".join(_SHOWN.values())
        raise ConfigError(f"{what} names nobody: write it as {shown}.")
    return Listed(channel, **found.groupdict())
