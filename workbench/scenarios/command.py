"""`simulate`: play a scenario file and print the talk, or show it on the simulator's page."""

import asyncio
import signal
import sys
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from core.json_types import JsonObject
from workbench.dev.bench.answers import answered, object_of
from workbench.scenarios.opening import open_stage
from workbench.scenarios.playing import play, play_on
from workbench.scenarios.replay import Replay, read_speed
from workbench.scenarios.scenario import CHANNELS, Scenario, ScenarioError, read_scenario

READY = "Watch it at "
"""The beginning of the line with the page's address."""


async def simulate(file: Path, channel: str = "") -> None:
    """Play a scenario, on another channel than its own if that is named, and print the talk."""
    played = await play(_read(file, channel))
    sys.stdout.write("\n".join(played.lines) + "\n")


async def watch(file: Path, channel: str = "", speed: str = "own", back: str = "", *, held: bool = False) -> None:
    """Play a scenario on a simulator whose page shows it, until that is closed or a signal ends it.

    `back`: an address to which the page leads back. `held`: the end of standard input ends it as well.
    """
    scenario = _read(file, channel)
    replay = Replay(scenario, read_speed(speed), back)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, replay.closed.set)
    if held:
        loop.add_reader(sys.stdin.fileno(), replay.closed.set)
    async with open_stage(scenario, routes=_routes(replay)) as stage:
        stage.simulator.control.replays = True
        sys.stdout.write(f"{READY}{stage.simulator.url}\n")
        sys.stdout.flush()

        async def run() -> None:
            try:
                await play_on(stage, scenario, replay)
            except ScenarioError as error:
                replay.end(str(error))
            else:
                replay.end()

        playing = asyncio.create_task(run())
        await replay.closed.wait()
        playing.cancel()
        await asyncio.wait([playing])


def _read(file: Path, channel: str) -> Scenario:
    scenario = read_scenario(file)
    if channel and channel not in CHANNELS:
        raise ScenarioError(f"--channel must be one of {', '.join(CHANNELS)}.")
    return replace(scenario, channel=channel) if channel else scenario


def _routes(replay: Replay) -> list[web.AbstractRouteDef]:
    async def shown(_: web.Request) -> JsonObject:
        return replay.shown()

    async def led(request: web.Request) -> JsonObject:
        replay.lead(await object_of(request))
        return replay.shown()

    return [web.get("/bench/replay", answered(shown)), web.post("/bench/replay", answered(led))]
