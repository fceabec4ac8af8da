"""The peers' processes, each in its own environment."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

_HERE = Path(__file__).parent
_START = 120.0
"""Seconds for a peer's imports on a busy machine."""


class TurnPeer:
    """A peer that runs turns on command."""

    def __init__(self, python: Path, name: str, server: str) -> None:
        self._command = (str(python), str(_HERE / "turn.py"), name, server)
        self._process: asyncio.subprocess.Process

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            env=_environment(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def measure(self, shape: str, times: int, rated: int, in_flight: int) -> tuple[float, float | None]:
        """Return CPU in ms a turn, and turns a second if any are to be rated."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # noqa: S101 - both are pipes
        assert stdout is not None  # noqa: S101
        stdin.write(f"{shape} {times} {rated} {in_flight}\n".encode())
        async with asyncio.timeout(_START * 5):
            line = await stdout.readline()
        if not line:
            raise RuntimeError(f"{self._command[2]} ended")
        cpu, rate = json.loads(line)
        return cpu, rate


@asynccontextmanager
async def serving(python: Path, script: str, *arguments: str) -> AsyncIterator[tuple[int, str]]:
    """Run a peer's script for the block; yield its process id and the first line that it wrote."""
    process = await asyncio.create_subprocess_exec(
        str(python),
        str(_HERE / script),
        *arguments,
        env=_environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    try:
        async with asyncio.timeout(_START):
            line = await process.stdout.readline()
        if not line:
            raise RuntimeError(f"{script} {arguments} ended")
        yield process.pid, line.decode().strip()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _environment() -> dict[str, str]:
    """Return our environment without the variables that lead to our modules."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    told = {name: value for name, value in os.environ.items() if name not in hidden}
    return told | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
