"""Cases as those of tests/contract: over every channel, with all that is logged checked."""

from collections.abc import AsyncIterator

import pytest

from tests.abilities.followups.following import Following, open_following
from tests.contract.conftest import log_watch as log_watch
from tests.contract.conftest import mail_servers as mail_servers
from tests.contract.conftest import mail_world as mail_world
from tests.contract.conftest import pytest_generate_tests as pytest_generate_tests


@pytest.fixture
async def system(channel: str, database_url: str, redis_url: str) -> AsyncIterator[Following]:
    """Yield three people's assistant."""
    async with open_following(channel, database_url, redis_url) as system:
        yield system
