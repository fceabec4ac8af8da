"""A plugin for tests that run a worker in their own process: a tool that waits for the test, and one to approve."""

import asyncio
from dataclasses import dataclass, field

from core.tools.tool import tool


@dataclass(slots=True)
class Gate:
    """Where a tool waits: `inside` when it runs, `opened` lets it go."""

    inside: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    sent: list[str] = field(default_factory=list)


GATES: list[Gate] = []
"""The gate of the test that runs, the newest."""


@tool(effect="read", timeout=60)
async def look_up() -> str:
    """Look something up, for as long as the test likes."""
    gate = GATES[-1]
    gate.inside.set()
    await gate.opened.wait()
    return "found"


@tool(needs_approval=True)
async def send_mail(to: str) -> str:
    """Send a mail."""
    GATES[-1].sent.append(to)
    return f"Sent to {to}."
