"""The pages with nanoidp's accounts as the service `work`, and two people."""

from collections.abc import AsyncIterator

import pytest

from abilities.accounts.services import Services
from core.credentials.store import CredentialStore
from core.db.database import Database
from tests.abilities.accounts.connect.harness import Browser, Pages, browser, served, work
from tests.core.credentials.conftest import admin as admin
from tests.core.credentials.conftest import database as database
from tests.core.credentials.conftest import key as key
from tests.core.credentials.conftest import store as store
from tests.servers.nanoidp import Nanoidp

__all__ = ["admin", "database", "key", "store"]


@pytest.fixture
async def pages(
    database: Database, store: CredentialStore, nanoidp: Nanoidp, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Pages]:
    """Yield the pages."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # the test server speaks plain HTTP
    async with served(database, store, Services.of([work(nanoidp)]), nanoidp.host) as pages:
        yield pages


@pytest.fixture
async def phone() -> AsyncIterator[Browser]:
    """Yield the browser of the person who asked."""
    async with browser() as one:
        yield one


@pytest.fixture
async def thief() -> AsyncIterator[Browser]:
    """Yield another browser."""
    async with browser() as one:
        yield one
