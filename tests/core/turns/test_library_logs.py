"""An assistant inside a program logs what the program's own logging asks for, and nothing else."""

import subprocess
import sys

import pytest

from tests.shipping.harness import ROOT, clean_environment

_PROGRAM = """
import asyncio, logging
from onevalet import ModelAnswer, ModelLayer, Orchestrator, new_turn
{asked}

class Parrot:
    layers = (ModelLayer("parrot"),)

    async def answer(self, request):
        return ModelAnswer(text="Hello")

    async def close(self): ...

async def main():
    async with Orchestrator(Parrot()) as orchestrator:
        await orchestrator.handle_message(new_turn("Hi", "ann"))
    import structlog
    structlog.get_logger().warning("odd", cause="a test")

asyncio.run(main())
"""


_AGAIN = pytest.mark.whole("it starts a process of its own, as the others do")


@pytest.mark.whole("it starts a process for each case")
@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ("", 0),
        pytest.param("logging.basicConfig(level=logging.WARNING)", 1, marks=_AGAIN),
        ("logging.basicConfig(level=logging.INFO)", 1),
        ("logging.basicConfig(level=logging.WARNING); logging.getLogger('onevalet').setLevel(logging.DEBUG)", 2),
        pytest.param(
            "logging.basicConfig(level=logging.INFO); logging.getLogger('onevalet').setLevel(logging.ERROR)",
            0,
            marks=_AGAIN,
        ),
    ],
)
def test_a_program_is_logged_to_only_as_it_asks(asked: str, lines: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(asked=asked)],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == ""
    shown = done.stderr.splitlines()
    assert len(shown) == lines, done.stderr
    assert all(":onevalet:event='" in line for line in shown)
