"""The gateway's front page in `dev`: it leads to the simulator's."""

from collections.abc import Awaitable, Callable

from aiohttp import web


def to_page(simulator_url: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """Return a handler that leads to the simulator."""

    async def front_page(_: web.Request) -> web.StreamResponse:
        raise web.HTTPFound(simulator_url)

    return front_page
