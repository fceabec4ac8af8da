"""`console` in a chat leads to the console of the person who asked, on every channel."""

import re
from collections.abc import AsyncIterator

import pytest

from operations.console.sign_in import MAX_LINKS, ConsoleSignIn
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.credentials.harness import KEYS

LINK = re.compile(r"https://valet\.example\.org/console/sign-in/([0-9a-f]{32})")
TYPED = {"slack": "console", "telegram": "/console"}


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a person whose installation has a public address."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.console = ConsoleSignIn(system.delivery.store.database, "https://valet.example.org", KEYS)
        yield system


@pytest.mark.also_by_mail
async def test_console_is_answered_with_a_link_that_signs_in(system: Approving, channel: str) -> None:
    await system.say(TYPED.get(channel, "Console"))
    match = LINK.search(system.last())
    assert match is not None, system.last()
    sign_in, now = system.console, system.clock.now()
    assert sign_in is not None
    session = await sign_in.begin(match[1], now)
    assert session is not None
    viewer = await sign_in.viewer(session, now)
    assert viewer is not None
    assert viewer.tenant_id == await system.delivery.store.db.person()
    assert not viewer.operator
    for _ in range(MAX_LINKS - 1):
        await sign_in.link(viewer.tenant_id, now)
    await system.say("console")
    assert system.last() == "You have had too many links today. Ask me again tomorrow."
    assert system.model.requests == [], "no model was asked"
