"""Later: a row whose moment is known is a deferred job of arq's, by which a worker claims it then.

Jobs carry ids, never truth. One that is lost, late or doubled changes nothing: each claim is a row's, and the watch
over what is due (core.queue.due) finds what no job named.
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
"""The function of the jobs (jobs.later.functions)."""
TAKING, QUEUEING = "onevalet-later", "onevalet-queueing"
"""What Redis lists the connections as of arq's workers, and of those who queue."""
HORIZON = timedelta(days=1)
"""What is further away is queued when it is nearer, so that Redis holds little and a loss of it costs little."""
TICK = 0.1
"""Seconds: moments are rounded up to these, and a row has one job for each."""
_MARGIN = 0.05
"""Seconds past its moment that a row is claimed: one that is not due yet would cost the job."""
_SECONDS = 2.0
"""How long a connection may take."""
_AWAY = 2.0
"""Seconds for which nothing is queued once it did not answer."""


def open_pool(redis_url: str, name: str, **options: object) -> ArqRedis:
    """Return arq's client, whose connections have this name.

    It reads and writes JSON, never pickle, whose reader runs what a writer wants.
    """
    pool = client_of(ArqRedis, redis_url, client_name=name, socket_connect_timeout=_SECONDS, **options)
    pool.job_serializer, pool.job_deserializer, pool.default_queue_name = pack, unpack, QUEUE
    return pool


class LaterJobs(RedisSender[ArqRedis, tuple[str, str, float]]):
    """Queue jobs, never while a caller waits."""

    def __init__(self, redis_url: str) -> None:
        super().__init__(redis_url, "later", rest=_AWAY)

    def come_due(self, work: str, row_id: str, after: timedelta) -> None:
        """Have a row of this kind of work claimed after so long. Never raises, never waits for the network."""
        if after <= HORIZON:
            moment = time.time() + max(after.total_seconds(), 0.0) + _MARGIN
            self._put((work, row_id, math.ceil(moment / TICK) * TICK))

    @override
    def _connect(self, url: str) -> ArqRedis:
        return open_pool(url, QUEUEING)

    @override
    async def _send(self, client: ArqRedis, items: Sequence[tuple[str, str, float]]) -> None:
        for work, row_id, moment in items:
            # arq takes no second job of an id that it holds.
            job_id = f"{work}:{row_id}:{round(moment / TICK)}"
            due = datetime.fromtimestamp(moment, UTC)
            await client.enqueue_job(COME_DUE, work, row_id, _job_id=job_id, _defer_until=due)
