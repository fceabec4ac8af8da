"""Tools that block the event loop of their worker, each in a way of its own, until its process is killed."""

import re
import time

import structlog

from core.tools.tool import tool

_log = structlog.get_logger()


@tool(effect="read")
async def spin() -> str:
    """Count forever."""
    _log.info("tool_hangs")
    while True:
        pass


@tool(effect="read")
async def doze() -> str:
    """Sleep without letting anybody else work."""
    _log.info("tool_hangs")
    time.sleep(3600)  # noqa: ASYNC251 - this is the fault
    return "awake"


@tool(effect="read")
async def match() -> str:
    """Try all ways to match, inside C code that no other thread can interrupt."""
    _log.info("tool_hangs")
    return str(re.match(r"(a+)+$", "a" * 60 + "b"))
