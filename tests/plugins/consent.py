"""A plugin with one tool that needs approval, whose every run is written down at once, in a file that outlives it."""

import asyncio
import os

from core.tools import tool


@tool(effect="once", needs_approval=True, parallel=True)
async def leave_mark(number: int, word: str) -> str:
    """Leave a mark, which nobody can take away again."""
    handle = os.open(os.environ["CONSENT_EFFECTS"], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(handle, f"{number} {word} {os.getpid()}\n".encode())
    finally:
        os.close(handle)
    await asyncio.sleep(0.02)  # long enough to be killed in
    return f"mark {number} is made"
