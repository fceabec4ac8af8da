"""A process that holds the embedded servers until it is killed: `python -m tests.onevalet.servers.holder HOME`."""

import asyncio
import os
import sys
from pathlib import Path

from onevalet.servers.home import Running, hold_home
from onevalet.servers.services import embedded_services


async def hold(path: Path) -> None:
    """Do what `dev` does with its folder, and say when it is done."""
    with hold_home(path) as home:
        async with embedded_services(path, database=True, redis=True) as services:
            assert services.database_url
            assert services.redis_url
            home.remember(
                Running(
                    pid=os.getpid(),
                    url="http://127.0.0.1:8080",
                    simulator_url="http://127.0.0.1:8081",
                    database_url=services.database_url,
                    redis_url=services.redis_url,
                )
            )
            print("ready", flush=True)  # noqa: T201
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(hold(Path(sys.argv[1])))
