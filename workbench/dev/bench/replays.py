"""Replays of scenarios, each on an installation of its own in another process, whose page shows it."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass
from pathlib import Path

import structlog

from core.errors import RequestRefused
from workbench.scenarios.command import READY

_STARTS_WITHIN = 180.0
_ENDS_WITHIN = 20.0
_log = structlog.get_logger()


@dataclass(slots=True)
class Replays:
    """A single replay at a time: a new replay ends the previous replay."""

    back: str = ""
    """The address of the page to which a replay leads back."""
    _process: Process | None = None

    async def start(self, path: Path, speed: str, channel: str) -> str:
        """Start a replay, and return the address of its page. Raises `RequestRefused` if it does not start."""
        await self.stop()
        command = [sys.executable, "-m", "onevalet", "simulate", str(path), "--watch", "--held"]
        command += ["--speed", speed, "--back", self.back]
        command += ["--channel", channel] if channel else []
        process = self._process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        try:
            async with asyncio.timeout(_STARTS_WITHIN):
                return await _address_of(process)
        except TimeoutError:
            await self.stop()
            raise RequestRefused("The replay did not start in time.", status=503) from None

    async def stop(self) -> None:
        """End the replay, if there is any, together with its installation."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(_ENDS_WITHIN):
                await process.communicate()
        except TimeoutError:
            _log.warning("replay_did_not_end", pid=process.pid)
            process.kill()
            await process.wait()


async def _address_of(process: Process) -> str:
    if process.stdout is None or process.stderr is None:
        raise RuntimeError("the replay has no pipes")
    async for line in process.stdout:
        text = line.decode().strip()
        if text.startswith(READY):
            return text.removeprefix(READY)
    why = (await process.stderr.read()).decode().strip().splitlines()
    raise RequestRefused(f"The replay did not start: {why[-1] if why else 'it said nothing'}", status=503)
