"""Later: for a row that comes due at a known moment, a deferred arq job makes a worker claim it then.

Jobs carry ids, never truth. A job that is lost, late or doubled changes nothing: the claim is on the row, and the
watch over due work (core.queue.due) finds rows without a job.
"""

import math
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import override

from arq.connections import ArqRedis

from core.db.redis_client import client_of
from core.queue.payloads import pack, unpack
from core.queue.redis_sender import RedisSender

QUEUE = "onevalet:later"
COME_DUE = "come_due"
"""Name of the function that the jobs run (jobs.later.functions)."""
TAKING, QUEUEING = "onevalet-later", "onevalet-queueing"
"""Names of connections in Redis' list of clients: of arq's workers, and of processes that queue jobs."""
HORIZON = timedelta(days=1)
"""Rows that are due after this are queued later, so that Redis holds few jobs and its loss costs little."""
TICK = 0.1
"""Seconds to a multiple of which moments are rounded up. A row has a single job for each such moment."""
_MARGIN = 0.05
"""Seconds added to a moment: a job that ran before its row is due would be wasted."""
_SECONDS = 2.0
"""Seconds to wait for a connection."""
_AWAY = 2.0
"""Seconds without queueing after Redis failed."""


def open_pool(redis_url: str, name: str, **options: object) -> ArqRedis:
    """Return arq's client, with a name for its connections.

    It reads and writes JSON, never pickle, which can run its writer's code.
    """
    pool = client_of(ArqRedis, redis_url, client_name=name, socket_connect_timeout=_SECONDS, **options)
    pool.job_serializer, pool.job_deserializer, pool.default_queue_name = pack, unpack, QUEUE
    return pool


class LaterJobs(RedisSender[ArqRedis, tuple[str, str, float]]):
    """Queue jobs, never while a caller waits."""

    def __init__(self, redis_url: str) -> None:
        super().__init__(redis_url, "later", rest=_AWAY)

    def come_due(self, work: str, row_id: str, after: timedelta) -> None:
        """Queue a job that claims a row of a kind of work after a time. Never raises, never waits for the network."""
        if after <= HORIZON:
            moment = time.time() + max(after.total_seconds(), 0.0) + _MARGIN
            self._put((work, row_id, math.ceil(moment / TICK) * TICK))

    @override
    def _connect(self, url: str) -> ArqRedis:
        return open_pool(url, QUEUEING)

    @override
    async def _send(self, client: ArqRedis, items: Sequence[tuple[str, str, float]]) -> None:
        for work, row_id, moment in items:
            # arq ignores a job whose id is queued already.
            job_id = f"{work}:{row_id}:{round(moment / TICK)}"
            due = datetime.fromtimestamp(moment, UTC)
            await client.enqueue_job(COME_DUE, work, row_id, _job_id=job_id, _defer_until=due)
