"""The servers of a run are not deleted by another run while they serve."""

import os

from tests import services


async def test_a_private_server_older_than_an_hour_stays_while_it_serves() -> None:
    async with services.private_valkey() as server:
        folder = server._folder.parent
        os.utime(folder, (0, 0))
        services._sweep()
        assert folder.exists()
    assert not folder.exists()
