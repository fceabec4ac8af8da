"""What an ability brings for tools: its type is its name, in a tool's context and where a chat word is answered."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Protocol

import pytest

from core.clock import Clock
from core.db.database import Database
from core.errors import ToolFailed
from core.people.tenant import TurnTenant
from core.queue.wakeups import NoWakeups
from core.tools.person_access import AccountAccess
from core.turns.services import ForTurn, TurnServices
from onevalet.ability import Ability
from onevalet.foundations import Opened, OpeningFoundation
from onevalet.settings import Settings
from onevalet.wiring import abilities
from onevalet.wiring.abilities import service_foundation
from onevalet.wiring.http import build_http
from onevalet.wiring.plugin_checks import FoundClasses


class Pets(Protocol):
    """What a tool asks of pets."""

    def of(self) -> str:
        """Return whose pets these are, in which turn."""
        ...


class _Pets:
    def __init__(self, tenant_id: str, turn_id: str) -> None:
        self._whose = f"{tenant_id} in {turn_id}"

    def of(self) -> str:
        return self._whose


def nobodys_accounts(tenant_id: str) -> AccountAccess:
    """Open nobody's accounts."""
    raise AssertionError(tenant_id)


async def test_a_tool_finds_what_an_ability_brings_by_its_type(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []

    def open_pets(stack: AsyncExitStack, foundation: OpeningFoundation) -> Mapping[type, ForTurn]:
        stack.callback(lambda: told.append("closed"))
        told.append(foundation.clock)
        return {Pets: _Pets}

    monkeypatch.setattr(abilities, "all_abilities", lambda: (Ability(name="pets", services=open_pets),))
    database, clock, settings = Database(database_url), Clock(), Settings()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        below = service_foundation(settings, database, clock, nobodys_accounts)
        foundation = OpeningFoundation(
            settings,
            database,
            below.http,
            clock,
            below.accounts,
            NoWakeups(),
            "",
            partial(build_http, settings),
            FoundClasses([]),
            Opened(),
            {},
        )
        opened = abilities.open_services(stack, foundation)
        context = TurnServices(of_abilities=opened).context_for(TurnTenant("tn_1"), "turn_1", "sms", "look", "key")
        assert context.service(Pets).of() == "tn_1 in turn_1"
    assert told == [clock, "closed"]


def test_what_no_ability_brings_is_told_to_the_model() -> None:
    context = TurnServices().context_for(TurnTenant("tn_1"), "turn_1", "sms", "look", "key")
    with pytest.raises(ToolFailed, match=r"^This assistant has no Pets\.$"):
        context.service(Pets)
