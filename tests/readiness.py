"""Whether a web process is ready, as a load balancer asks."""

from contextlib import suppress

import aiohttp


async def is_ready(url: str) -> bool:
    """Return whether the process at an address answers that it can work; one that does not listen yet is not ready."""
    with suppress(aiohttp.ClientError):
        async with aiohttp.ClientSession() as session, session.get(f"{url}/readyz") as answer:
            return answer.status == 200
    return False
