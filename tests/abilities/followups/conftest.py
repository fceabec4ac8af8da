"""A system of follow-ups by SMS, for what no channel changes."""

from collections.abc import AsyncIterator

import pytest

from tests.abilities.followups.following import Following, open_following


@pytest.fixture
async def system(database_url: str, redis_url: str) -> AsyncIterator[Following]:
    """Yield three people's assistant."""
    async with open_following("sms", database_url, redis_url) as system:
        yield system
