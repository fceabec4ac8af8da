"""Receipts noted in Redis while the database cannot take them.

Until a receipt is stored, only its worker knows it. If that worker dies while the database is away, the outcome of the
call would be unknown to the next worker, and on a channel without a look-up the part would be sent again. A note is a
hint: without Redis the outcome stays unknown.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from redis.exceptions import RedisError

from core.db.redis_client import redis_client
from core.messaging.channels import Receipt

NOTE_AFTER = 0.25
"""Seconds to wait for the database before a receipt is noted."""
NOTE_SECONDS = 86_400
"""Seconds for which a note is kept."""
REDIS_SECONDS = 1.0

_log = structlog.get_logger()


class ReceiptNotes:
    """Note receipts by the ref of their part, and find them."""

    def __init__(self, redis_url: str) -> None:
        self._client = redis_client(redis_url, socket_connect_timeout=REDIS_SECONDS)

    @asynccontextmanager
    async def while_written(self, ref: str, receipt: Receipt | None) -> AsyncIterator[None]:
        """Note the receipt, if any, as soon as the block that stores it takes long."""
        if receipt is None:
            yield
            return
        note = asyncio.create_task(self._note_late(ref, receipt), name="receipt note")
        try:
            yield
        finally:
            note.cancel()

    async def find(self, ref: str) -> Receipt | None:
        """Return the noted receipt of a part; None if there is none or Redis is away."""
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                note = await self._client.get(_key(ref))
            return None if note is None else Receipt(**json.loads(note))
        except (RedisError, OSError, TimeoutError, ValueError, TypeError) as error:
            _log.warning("receipt_note_unknown", cause=type(error).__name__)
            return None

    async def close(self) -> None:
        await self._client.aclose(close_connection_pool=True)

    async def _note_late(self, ref: str, receipt: Receipt) -> None:
        await asyncio.sleep(NOTE_AFTER)
        known = {"provider_id": receipt.provider_id, "moved_to": receipt.moved_to, "degraded": receipt.degraded}
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                await self._client.set(_key(ref), json.dumps(known), ex=NOTE_SECONDS)
        except (RedisError, OSError, TimeoutError) as error:
            _log.warning("receipt_not_noted", cause=type(error).__name__)


def _key(ref: str) -> str:
    return f"onevalet:receipt:{ref}"
