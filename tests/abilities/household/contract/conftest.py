"""Cases as those of tests/contract: over every channel, with all that is logged checked."""

from collections.abc import AsyncIterator

import pytest

from tests.abilities.household.living import Living, open_living
from tests.contract.conftest import log_watch as log_watch
from tests.contract.conftest import mail_servers as mail_servers
from tests.contract.conftest import mail_world as mail_world
from tests.contract.conftest import pytest_generate_tests as pytest_generate_tests


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Living]:
    """Yield three people's assistant; nobody is in a household yet."""
    async with open_living(channel, database_url) as system:
        yield system
