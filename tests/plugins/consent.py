"""A plugin with one tool that needs approval, whose every run is written down at once, in a file that outlives it."""

import os
import signal
from pathlib import Path

from core.tools.tool import tool


@tool(effect="once", needs_approval=True, parallel=True)
async def leave_mark(number: int, word: str) -> str:
    """Leave a mark, which nobody can take away again; a deadly one kills its process right behind it."""
    folder = Path(os.environ["CONSENT_FOLDER"])
    handle = os.open(folder / "effects", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(handle, f"{number} {word} {os.getpid()}\n".encode())
    finally:
        os.close(handle)
    if (folder / f"deadly-{number}").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return f"mark {number} is made"
