"""A call waits for the server until its patience ends, then says what was wrong."""

import asyncio
import socket

import pytest

from core.db.database import Database
from core.errors import StoreUnavailable


async def test_a_try_cut_off_by_the_deadline_hides_no_known_cause() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        # Bound and not listening: it refuses. Listening and never accepting: it does not answer.
        database = Database(f"postgresql://nobody@127.0.0.1:{server.getsockname()[1]}/none", patience=1.0)
        call = asyncio.ensure_future(database.rows("select 1"))
        await asyncio.sleep(0.3)
        server.listen()
        with pytest.raises(StoreUnavailable) as raised:
            await call
    assert str(raised.value) == "ConnectionRefusedError"
