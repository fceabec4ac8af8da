"""The demo model in trouble, on request: it fails, or hangs, as a model elsewhere does."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from core.errors import ModelUnavailable
from providers.models.local_model import LocalModel

FILE = "model.trouble"
"""Its name in ONEVALET_HOME."""
_LOOK = 0.2


class Trouble(StrEnum):
    """Troubles of the demo model."""

    NONE = "none"
    FAILS = "fails"
    HANGS = "hangs"


def trouble_of(path: Path) -> Trouble:
    """Return the trouble in the file; none without a file."""
    try:
        return Trouble(path.read_text().strip())
    except (FileNotFoundError, ValueError):
        return Trouble.NONE


def set_trouble(path: Path, trouble: Trouble) -> None:
    """Write the file that every process reads before each call."""
    path.write_text(trouble.value)


def troubled(model: LocalModel, path: Path) -> LocalModel:
    """Return a model that meets the trouble of a file."""
    return replace(model, before=meet(path))


def meet(path: Path) -> Callable[[], Awaitable[None]]:
    """Return the function before each answer: it fails, or hangs for as long as the file says so."""

    async def before() -> None:
        while (trouble := trouble_of(path)) is not Trouble.NONE:
            if trouble is Trouble.FAILS:
                raise ModelUnavailable("The demo model fails, as was asked for on the page.")
            await asyncio.sleep(_LOOK)

    return before
