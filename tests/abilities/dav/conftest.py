"""Clients of users' accounts on a real server."""

from collections.abc import AsyncIterator, Callable

import pytest

from abilities.dav.client import DavClient
from core.http.guarded_client import GuardedClient
from tests.servers.radicale import Radicale


@pytest.fixture
async def http(radicale: Radicale) -> AsyncIterator[GuardedClient]:
    client = GuardedClient(allowed_hosts=[radicale.host])
    yield client
    await client.close()


@pytest.fixture
def client_of(radicale: Radicale, http: GuardedClient) -> Callable[[str], DavClient]:
    """Return the client of a user's account."""
    return lambda user: DavClient(http, radicale.account(user))
