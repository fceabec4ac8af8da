"""No other run deletes the servers of a run while they serve, and no other user reads their addresses."""

import os
from pathlib import Path

from tests import services


async def test_a_private_server_older_than_an_hour_stays_while_it_serves() -> None:
    async with services.private_valkey() as server:
        folder = server._folder.parent
        os.utime(folder, (0, 0))
        services._sweep()
        assert folder.exists()
    assert not folder.exists()


def test_a_worker_reads_what_the_main_process_wrote_for_it_alone(tmp_path: Path) -> None:
    written = services.RunServices(str(tmp_path), "postgresql://onevalet:secret@127.0.0.1:1/x", "redis://127.0.0.1:2/0")
    written.write()
    assert services.RunServices.of(tmp_path) == written
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
