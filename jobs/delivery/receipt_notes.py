"""Receipts noted in Redis while the database does not take them.

What a provider said of a call is known to one worker only until it is written down. If that worker dies while
the database is away, the next one would have to take the outcome for unknown, and a channel that cannot be asked would
send the part again. A note is a hint: without Redis the outcome is unknown, as before.
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
"""Seconds that the database may take to write a receipt before it is noted."""
NOTE_SECONDS = 86_400
"""How long a note is kept."""
REDIS_SECONDS = 1.0

_log = structlog.get_logger()


class ReceiptNotes:
    """Note receipts by the ref of their part, and find them."""

    def __init__(self, redis_url: str) -> None:
        self._client = redis_client(redis_url, socket_connect_timeout=REDIS_SECONDS)

    @asynccontextmanager
    async def while_written(self, ref: str, receipt: Receipt | None) -> AsyncIterator[None]:
        """Note the receipt, if any, once the block that writes it down takes long."""
        if receipt is None:
            yield
            return
        note = asyncio.create_task(self._note_late(ref, receipt), name="receipt note")
        try:
            yield
        finally:
            note.cancel()

    async def find(self, ref: str) -> Receipt | None:
        """Return the receipt noted for a part, if there is one and Redis can be asked."""
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
