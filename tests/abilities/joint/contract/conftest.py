"""Cases as those of tests/contract: over every channel, with all that is logged checked."""

from collections.abc import AsyncIterator

import pytest

from tests.abilities.joint.together import Together, open_together
from tests.contract.conftest import log_watch as log_watch
from tests.contract.conftest import mail_servers as mail_servers
from tests.contract.conftest import mail_world as mail_world
from tests.contract.conftest import pytest_generate_tests as pytest_generate_tests


@pytest.fixture
async def home(channel: str, database_url: str) -> AsyncIterator[Together]:
    async with open_together(channel, database_url) as system:
        yield system
