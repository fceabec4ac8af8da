"""A halt reaches every partition of people: each one's workers ask the others, and follow."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

import structlog

from core.db.database import Database
from core.errors import StoreUnavailable
from onevalet.ability import Repeated
from onevalet.foundations import WorkFoundation

EVERY = timedelta(seconds=3)
"""The time after which a halt, or its lifting, has reached the others; nothing but this work knows of them."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class HaltsEverywhere:
    """The halts of a partition's `database`, which follow those that the `router` leads to."""

    database: Database
    router: Database

    async def follow(self) -> None:
        """Begin and lift here the halts that others have begun and lifted. Repeatable."""
        for row in await self.router.rows("select number from partitions order by number"):
            number = row["number"]
            try:
                known = await self.router.one("select halts_of($1) as halts", number)
            except StoreUnavailable as error:
                # The others are asked all the same: what this one knows is followed once it is back.
                _log.warning("halts_unknown", partition=number, cause=str(error))
                continue
            if (await self.database.one("select follow_halts($1) as changed", known["halts"]))["changed"]:
                _log.warning("halt_followed", partition=number)


def open_work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    """Return the work; without a router there is nobody to follow."""
    url = foundation.settings.onevalet_router_url
    if url is None:
        return []
    router = Database(url.get_secret_value(), patience=2.0, size=1, name="halts")
    stack.push_async_callback(router.close)
    return [Repeated("halts elsewhere", EVERY, HaltsEverywhere(foundation.database, router).follow)]
