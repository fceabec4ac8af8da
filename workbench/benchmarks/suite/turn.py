"""A turn of two model calls and two tools over HTTP, nothing stored: its CPU cost, and turns a second."""

import time
from contextlib import AsyncExitStack

from workbench.benchmarks import model_path
from workbench.benchmarks.model_path import Turn
from workbench.benchmarks.model_server import running
from workbench.benchmarks.peers.processes import TurnPeer
from workbench.benchmarks.suite.metrics import FLOOR, OURS, Benchmark, Metric, Options, Plot, Points, Samples, Target

PEERS = ("agno", "openai-agents", "langgraph", "pydantic-ai", "litellm")
_ABOUT = """\
The model calls two tools at once and then says 200 words; model and tools answer at once. Floor: bare aiohttp, the
stream read by hand. The peer `litellm` is two of its calls, without an agent. Turns a second are those of one process
by wall clock, with the model's server on another core."""
METRICS = (
    Metric("turn", "a turn, the answer streamed in few chunks", "ms CPU", Target(2)),
    Metric("turn-200", "the same in 200 chunks", "ms CPU", Target(2)),
    Metric("turn-whole", "the same, not streamed", "ms CPU", Target(2)),
    Metric("turn-rate", "the first with 32 in flight", "turns/s a core", Target(500, more=True)),
)
_SHAPES = {"few": "turn", "many": "turn-200", "whole": "turn-whole"}
_IN_FLIGHT = (1, 2, 4, 8, 16, 32, 64, 128)


async def run(options: Options) -> Samples:
    """Measure each shape of answer, all contestants in turns."""
    samples = Samples()
    with running() as server:
        async with AsyncExitStack() as stack:
            peers = {name: TurnPeer(options.peers[name], name, server) for name in PEERS if options.peers}
            for peer in peers.values():
                await stack.enter_async_context(peer)
                await peer.measure("few", 1, 0, 1)  # its imports are over
            for shape in _SHAPES:
                await _measure(samples, shape, server, peers, options)
    return samples


async def _measure(samples: Samples, shape: str, server: str, peers: dict[str, TurnPeer], options: Options) -> None:
    rated = options.of(128, 4) if shape == "few" else 0
    async with model_path.contestants(f"{server}/{shape}/v1", streamed=shape != "whole") as turns:
        shown = {FLOOR: turns["floor: bare aiohttp"], OURS: turns["ours"]}
        for name, turn in shown.items():
            if "word199" not in str(await turn()):
                raise RuntimeError(f"{name}: an unexpected answer")
        for _ in range(options.rounds):
            for name, turn in shown.items():
                cpu, rate = await model_path.one_round(turn, options.of(100, 5), rated * 2)
                _add(samples, shape, name, cpu, rate)
            for name, peer in peers.items():
                cpu, rate = await peer.measure(shape, options.of(12, 1), rated, model_path.IN_FLIGHT)
                _add(samples, shape, name, cpu, rate)
        if shape == "few":
            samples.plots += await _by_concurrency(shown, options)


def _add(samples: Samples, shape: str, name: str, cpu: float, rate: float | None) -> None:
    samples.add(_SHAPES[shape], name, cpu)
    if rate is not None:
        samples.add("turn-rate", name, rate)


async def _by_concurrency(turns: dict[str, Turn], options: Options) -> list[Plot]:
    rates: dict[str, Points] = {}
    times: dict[str, Points] = {}
    for name, turn in turns.items():
        for in_flight in _IN_FLIGHT[: options.of(8, 2)]:
            count = max(options.of(400, 8), in_flight * 6)
            began = time.perf_counter()
            took = sorted(await model_path.at_once(turn, count, in_flight))
            rates.setdefault(name, []).append((in_flight, count / (time.perf_counter() - began)))
            for share, label in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99")):
                times.setdefault(f"{name}, {label}", []).append((in_flight, took[int(len(took) * share)] * 1000))
    return [
        Plot("turns-by-concurrency", "Turns a second", "turns in flight", "turns/s", rates),
        Plot("turn-latency-by-concurrency", "Time of a turn", "turns in flight", "ms", times),
    ]


BENCHMARK = Benchmark("turn", "A turn over HTTP, nothing stored", _ABOUT, METRICS, run)
