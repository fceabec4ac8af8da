"""Tiers: named sets of limits. Each role has a tier of its own name; a person may be given another."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import time
from decimal import Decimal, InvalidOperation
from pathlib import Path

from core.errors import ConfigError
from core.json_types import read_json
from core.language.money import Currency
from core.people.access_policy import PersonRole
from core.people.tenant import QuietHours

_NAMES = {"tools", "budget_a_day", "hours", "messages_a_minute"}


@dataclass(frozen=True, slots=True)
class Tier:
    """The limits of a tier. `tools`: the offered tools, None for all; `dollars_a_day`: None for the default.

    `closed`: when nothing is answered, by the person's own clock, or a child's by another; None for never.
    """

    name: str
    messages_a_minute: int
    tools: tuple[str, ...] | None = None
    dollars_a_day: Decimal | None = None
    closed: QuietHours | None = None


class Tiers:
    """The tiers of a deployment, by name."""

    def __init__(self, tiers: Mapping[str, Tier]) -> None:
        self._tiers = dict(tiers)

    @property
    def names(self) -> list[str]:
        return sorted(self._tiers)

    @property
    def have_budgets(self) -> bool:
        return any(tier.dollars_a_day is not None for tier in self._tiers.values())

    def of(self, role: PersonRole, tier: str | None = None) -> Tier | None:
        """Return a person's own tier, else their role's; None when the settings have none."""
        return self._tiers.get(tier or role)

    def tools_of(self, role: PersonRole, tier: str | None = None) -> tuple[str, ...] | None:
        """Return the only tools and agents of a person's tier; None for all."""
        own = self.of(role, tier)
        return own.tools if own else None

    def check_tools(self, known: frozenset[str], prefixes: Sequence[str] = ()) -> None:
        """Raise `ConfigError` for a tier that names an unknown tool; names that begin with a prefix may come later."""
        for tier in self._tiers.values():
            for name in tier.tools or ():
                if name not in known and not name.startswith(tuple(prefixes)):
                    raise ConfigError(f"ONEVALET_TIERS: {tier.name} names the tool {name!r}, which is not there.")


def read_tiers(text: str, messages_a_minute: int, currency: Currency | None = None) -> Tiers:
    """Parse ONEVALET_TIERS: a JSON object, or @ and the path of a .json or .toml file; raises `ConfigError`.

    It maps names to any of `tools`, `budget_a_day`, `hours`, `messages_a_minute`; each role has a tier in any case.
    """
    usual = Tier("", messages_a_minute)
    tiers = {role.value: replace(usual, name=role.value) for role in PersonRole}
    for name, limits in _load(text).items():
        if not isinstance(limits, dict):
            raise ConfigError(f"ONEVALET_TIERS: {name} must hold limits: {', '.join(sorted(_NAMES))}.")
        tiers[name] = _tier(name, limits, usual, currency or Currency())
    return Tiers(tiers)


def _load(text: str) -> dict[str, object]:
    try:
        if text.startswith("@"):
            path = Path(text[1:])
            content = path.read_text(encoding="utf-8")
            tiers = tomllib.loads(content) if path.suffix == ".toml" else read_json(content)
        else:
            tiers = read_json(text or "{}")
    except (OSError, ValueError) as error:
        raise ConfigError("ONEVALET_TIERS cannot be read: write JSON, or @ and the path of a file.") from error
    if not isinstance(tiers, dict):
        raise ConfigError("ONEVALET_TIERS must map the names of tiers to their limits.")
    return dict(tiers)


def _tier(name: str, limits: dict[str, object], usual: Tier, currency: Currency) -> Tier:
    if unknown := sorted(set(limits) - _NAMES):
        raise ConfigError(f"ONEVALET_TIERS: {name} has {unknown[0]!r}; there are {', '.join(sorted(_NAMES))}.")
    tools, minute = limits.get("tools"), limits.get("messages_a_minute", usual.messages_a_minute)
    if tools is not None and not (isinstance(tools, list) and all(isinstance(tool, str) for tool in tools)):
        raise ConfigError(f"ONEVALET_TIERS: the tools of {name} must be a list of names.")
    if not isinstance(minute, int) or isinstance(minute, bool) or minute < 1:
        raise ConfigError(f"ONEVALET_TIERS: messages_a_minute of {name} must be a whole number from 1.")
    return Tier(
        name,
        minute,
        tuple(tools) if tools is not None else None,
        currency.to_dollars(_money(name, limits.get("budget_a_day"))),
        _closed(name, limits.get("hours")),
    )


def _closed(name: str, hours: object) -> QuietHours | None:
    """Return the hours in which a tier gets no answer; `hours`: those in which it does, written as 07:00-20:00."""
    if hours is None:
        return None
    opens, _, closes = str(hours).partition("-")
    try:
        start, end = time.fromisoformat(opens.strip()), time.fromisoformat(closes.strip())
    except ValueError:
        start = end = time()
    # A zone would be beside the person's own, by which the hours are meant.
    if start == end or start.tzinfo or end.tzinfo:
        raise ConfigError(f"ONEVALET_TIERS: hours of {name} must be written as 07:00-20:00.")
    return QuietHours(end, start)


def _money(name: str, value: object) -> Decimal | None:
    if value is None:
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise ConfigError(f"ONEVALET_TIERS: budget_a_day of {name} must be a number from 0.")
    return amount
