"""A hop through a peer's queue, run in its own environment: the median of ms from before the enqueuing to the start.

python hop.py NAME REDIS_URL
"""

import asyncio
import random
import statistics
import sys
import time

COUNT = 40
started: "asyncio.Queue[float]"


async def taskiq(url):
    """Return the function that enqueues a job, and the running worker."""
    from taskiq.api import run_receiver_task
    from taskiq_redis import RedisStreamBroker

    broker = RedisStreamBroker(url)

    @broker.task(task_name="job")
    async def job() -> None:
        started.put_nowait(time.perf_counter())

    await broker.startup()
    return job.kiq, asyncio.create_task(run_receiver_task(broker))


async def arq(url):
    """Return the function that enqueues a job, and the running worker, at a hundred looks a second."""
    from arq import create_pool
    from arq.connections import RedisSettings
    from arq.worker import Worker, func

    async def job(context) -> None:
        started.put_nowait(time.perf_counter())

    settings = RedisSettings.from_dsn(url)
    worker = Worker(
        [func(job, name="job")], redis_settings=settings, poll_delay=0.01, queue_name="peer", handle_signals=False
    )
    pool = await create_pool(settings, default_queue_name="peer")
    return lambda: pool.enqueue_job("job"), asyncio.create_task(worker.async_run())


async def main() -> None:
    """Measure and print."""
    global started
    started = asyncio.Queue()
    enqueue, _working = await {"taskiq": taskiq, "arq": arq}[sys.argv[1]](sys.argv[2])
    times = []
    for number in range(COUNT + 5):
        began = time.perf_counter()
        await enqueue()
        took = await started.get() - began
        if number >= 5:
            times.append(took * 1000)
        await asyncio.sleep(random.uniform(0.01, 0.1))
    sys.stdout.write(f"{statistics.median(times):.3f}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
