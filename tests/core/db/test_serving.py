"""Connections of the serving role, before anybody has them."""

import asyncio

import pytest

from core.db import serving
from core.db.connector import Connection
from core.db.serving import ServingConnector


async def test_a_connection_is_dropped_when_nobody_waits_for_it_any_more(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()

    async def never_answered(connection: Connection) -> bool:
        asked.set_result(connection)
        return await asyncio.Future[bool]()

    monkeypatch.setattr(serving, "_is_pooled", never_answered)
    connecting = asyncio.create_task(ServingConnector(database_url)(database_url))
    connection = await asked
    assert not connection.is_closed()
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert connection.is_closed()
