"""Cases as those of tests/contract: over every channel that has groups, with all that is logged checked."""

from collections.abc import AsyncIterator

import pytest

from core.messaging.capabilities import Grouping
from tests.abilities.groups.talking import Talking, open_talking
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.conftest import log_watch as log_watch


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a case over every channel that has groups, and is not exempt from it."""
    if "channel" in metafunc.fixturenames:
        exempt = {name for mark in metafunc.definition.iter_markers("exempt") for name in mark.kwargs}
        metafunc.parametrize("channel", [name for name in ("telegram", "slack") if name not in exempt])


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Talking]:
    """Yield a group's assistant, which nobody has turned on."""
    async with open_talking(channel, database_url) as system:
        assert isinstance(system.delivery.channel.sender, Grouping)
        assert channel in HARNESSES
        yield system
