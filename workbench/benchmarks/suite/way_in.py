"""The way in: a webhook to a durable row, beside receivers that store nothing."""

import itertools
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

import aiohttp
import psutil

from onevalet.servers.port import free_port
from workbench.benchmarks import way_in, webhooks
from workbench.benchmarks.cpu import cpu_of
from workbench.benchmarks.peers.processes import serving
from workbench.benchmarks.suite.metrics import FLOOR, OURS, Benchmark, Metric, Options, Plot, Points, Samples, Target
from workbench.benchmarks.webhooks import Webhook, send_all

CHANNELS = {"sms": "SMS", "slack": "Slack", "telegram": "Telegram"}
_ABOUT = """\
One web process verifies, parses and commits a provider's signed request before it answers, with 32 in flight; requests
that come together share a commit. Floor: bare aiohttp, JSON, no signature, one insert through a pool. The peers check
a signature or a secret and call a handler, but store nothing."""


def _metrics(channel: str, title: str) -> tuple[Metric, ...]:
    return (
        Metric(f"way-in-web-{channel}", f"{title}: web", "µs CPU", Target(1.8, times=FLOOR)),
        Metric(f"way-in-postgres-{channel}", f"{title}: Postgres", "µs CPU", Target(1.5, times=FLOOR)),
        Metric(
            f"way-in-rate-{channel}",
            f"{title}: accepted by one process",
            "a second",
            Target(0.6, more=True, times=FLOOR),
        ),
    )


METRICS = tuple(metric for channel, title in CHANNELS.items() for metric in _metrics(channel, title))
_SLACK = (webhooks.SIGNING_SECRET, webhooks.BOT_TOKEN)
_TELEGRAM = (webhooks.WEBHOOK_SECRET, webhooks.TELEGRAM_TOKEN)
PEERS = {"slack-bolt": "slack", "python-telegram-bot": "telegram", "aiogram": "telegram"}
_NUMBERS = itertools.count(10_000_000)
_IN_FLIGHT = 32


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer that listens."""

    name: str
    channel: str
    port: int
    process: psutil.Process

    async def phase(self, messages: int) -> dict[str, float]:
        """Send messages; return their cost."""
        requests = [self._make(number % way_in.PEOPLE, next(_NUMBERS)) for number in range(messages)]
        before, begun = cpu_of(self.process), time.perf_counter()
        times = await send_all(self.port, requests, _IN_FLIGHT)
        spent = time.perf_counter() - begun
        if len(times) < messages:
            raise RuntimeError(f"{self.name} refused {messages - len(times)} of {messages}")
        return {"web_us": (cpu_of(self.process) - before) / messages * 1e6, "a_second": messages / spent}

    async def heard(self) -> int:
        """Return the number of messages that its handler got."""
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{self.port}/heard") as answer:
            return int(await answer.text())

    @property
    def _make(self) -> Webhook:
        return way_in.CONTESTANTS[self.channel]


async def run(options: Options) -> Samples:
    """Measure floor, ours and the peers in turns; our latency over concurrency last."""
    samples = Samples()
    messages = options.of(1500, 40)
    channels = tuple(CHANNELS)[: options.of(3, 1)]
    async with way_in.opened() as bench, AsyncExitStack() as stack:
        for name in ("floor", *channels):
            warm = [way_in.CONTESTANTS[name](person, next(_NUMBERS)) for person in range(way_in.PEOPLE)]
            await send_all(bench.ports[name], warm, 8)
        peers = [await _peer(stack, name, options) for name in PEERS if options.peers]
        for _ in range(options.rounds):
            floor = await way_in.phase(bench, "floor", messages, _IN_FLIGHT)
            for channel in channels:
                _add(samples, channel, FLOOR, floor)
                _add(samples, channel, OURS, await way_in.phase(bench, channel, messages, _IN_FLIGHT))
            for peer in peers:
                _add(samples, peer.channel, peer.name, await peer.phase(messages))
        for peer in peers:
            if await peer.heard() < options.rounds * messages:
                raise RuntimeError(f"{peer.name} answered more than it handled")
        if not options.small:
            samples.plots += await _by_concurrency(bench, messages)
    return samples


async def _peer(stack: AsyncExitStack, name: str, options: Options) -> Peer:
    channel, port = PEERS[name], free_port()
    secrets = _SLACK if channel == "slack" else _TELEGRAM
    providers = await stack.enter_async_context(way_in.providers())
    starting = serving(options.peers[name], "webhook.py", name, str(port), providers, *secrets)
    pid, _ = await stack.enter_async_context(starting)
    peer = Peer(name, channel, port, psutil.Process(pid))
    await peer.phase(way_in.PEOPLE)
    return peer


def _add(samples: Samples, channel: str, contestant: str, figures: Mapping[str, float]) -> None:
    samples.add(f"way-in-web-{channel}", contestant, figures["web_us"])
    samples.add(f"way-in-rate-{channel}", contestant, figures["a_second"])
    if "postgres_us" in figures:
        samples.add(f"way-in-postgres-{channel}", contestant, figures["postgres_us"])


async def _by_concurrency(bench: way_in.Bench, messages: int) -> list[Plot]:
    rates: dict[str, Points] = {}
    times: dict[str, Points] = {}
    for in_flight in (1, 4, 16, 64, 256):
        for channel, name in (("floor", FLOOR), ("sms", OURS)):
            figures = await way_in.phase(bench, channel, messages, in_flight)
            rates.setdefault(name, []).append((in_flight, figures["a_second"]))
            for label in ("p50", "p99"):
                times.setdefault(f"{name}, {label}", []).append((in_flight, figures[f"{label}_ms"]))
    return [
        Plot("webhooks-by-concurrency", "Webhooks of SMS accepted", "webhooks in flight", "a second", rates),
        Plot("webhook-latency-by-concurrency", "Time of a webhook of SMS", "webhooks in flight", "ms", times),
    ]


BENCHMARK = Benchmark("way-in", "A webhook to a durable row", _ABOUT, METRICS, run)
