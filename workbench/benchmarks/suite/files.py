"""Photos beside talk: the cost of a photo of 12 megapixels to its own person, and to all others."""

import asyncio
import random
import tempfile
import time
from io import BytesIO

from workbench.benchmarks.suite.metrics import FLOOR, OURS, Benchmark, Metric, Options, Samples, Target
from workbench.benchmarks.whole.model import FACTS
from workbench.benchmarks.whole.way import Way, opened, sustained

_ABOUT = """\
Eight people write again as soon as they are answered; half of the time another person sends new photos of 12
megapixels, which the worker fetches, has a child process read, and stores. Floor: the eight people without photos."""
METRICS = (
    Metric("files-others", "the others' turns beside photos, p99", "ms", Target(2, times=FLOOR)),
    Metric("files-others-light", "the others' turns beside photos, p50", "ms"),
    Metric("files-photo", "a photo in to its answer handed to the provider, p50", "ms"),
)
_PEOPLE = 8
_SENDER = 90
"""The number of the person who sends photos."""
_SIZE = (4000, 3000)


async def run(options: Options) -> Samples:
    """Measure the others with and without the photos, in turns."""
    samples = Samples()
    with tempfile.TemporaryDirectory() as folder:
        async with opened({"ONEVALET_FILES": folder}) as way:
            way.photo = await asyncio.to_thread(_photo)
            people, seconds = options.of(_PEOPLE, 2), options.of(10, 1)
            for person in (*range(people), _SENDER):
                for facts in FACTS:
                    await way.ask(person, f"{facts} {person}")
            await way.ask(_SENDER, photo=True)
            for _ in range(options.rounds):
                _add(samples, FLOOR, (await sustained(way, people, seconds))[1])
                others, photos = await asyncio.gather(sustained(way, people, seconds), _send(way, seconds))
                _add(samples, OURS, others[1])
                samples.add("files-photo", OURS, sorted(photos)[len(photos) // 2] * 1000)
    return samples


def _add(samples: Samples, contestant: str, times: list[float]) -> None:
    ordered = sorted(times)
    samples.add("files-others", contestant, ordered[int(len(ordered) * 0.99)] * 1000)
    samples.add("files-others-light", contestant, ordered[len(ordered) // 2] * 1000)


async def _send(way: Way, seconds: float) -> list[float]:
    """Send photos in sequence; return the seconds of each."""
    times: list[float] = []
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        times.append(await way.ask(_SENDER, photo=True))
    return times


def _photo() -> bytes:
    """Return a photo of 12 megapixels as a phone takes it, some 4 MB."""
    from PIL import Image

    grain = Image.frombytes("L", (_SIZE[0] // 4, _SIZE[1] // 4), random.Random(0).randbytes(_SIZE[0] * _SIZE[1] // 16))
    out = BytesIO()
    grain.resize(_SIZE, Image.Resampling.BICUBIC).convert("RGB").save(out, "JPEG", quality=90)
    return out.getvalue()


BENCHMARK = Benchmark("files", "Photos beside talk", _ABOUT, METRICS, run)
