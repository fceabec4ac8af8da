"""Tools that block the event loop of their worker, each in a way of its own, until its process is killed."""

import re
import time

from core.tools.tool import tool


@tool(effect="read")
async def spin() -> str:
    """Count forever."""
    while True:
        pass


@tool(effect="read")
async def doze() -> str:
    """Sleep without letting anybody else work."""
    time.sleep(3600)  # noqa: ASYNC251 - this is the fault
    return "awake"


@tool(effect="read")
async def match() -> str:
    """Try all ways to match, inside C code that no other thread can interrupt."""
    return str(re.match(r"(a+)+$", "a" * 60 + "b"))
