"""Tools that act outside, in a file: one that must never act twice, and one that may with the same key."""

import os
import signal
from pathlib import Path

from core.tools.context import ToolExecutionContext
from core.tools.tool import tool
from tests.faults.crashing import folder, reach
from tests.faults.journals import append


@tool(effect="once")
async def act_once(token: str, context: ToolExecutionContext) -> str:
    """Do what must never be done twice."""
    await reach("once.entered")
    _note("once", token, context)
    await reach("once.acted")
    return f"once {token} done"


@tool(effect="idempotent")
async def act_again(token: str, context: ToolExecutionContext) -> str:
    """Do what may be done again under the same key."""
    await reach("again.entered")
    _note("again", token, context)
    await reach("again.acted")
    return f"again {token} done"


@tool(effect="once", needs_approval=True)
async def act_approved(token: str, context: ToolExecutionContext) -> str:
    """Do what must be done only with the person's consent."""
    _note("once", token, context)
    return f"approved {token} done"


@tool(effect="once", needs_approval=True, standing=("saying",))
async def act_agreed(saying: str, context: ToolExecutionContext) -> str:
    """Do what the person has agreed to in advance."""
    _note("once", saying, context)
    return f"agreed {saying} done"


@tool(effect="read")
async def act_upload(token: str, context: ToolExecutionContext) -> str:
    """Send a file with the reply."""
    await context.files.put(f"{token}.csv", f"token,{token}\n".encode())
    return f"upload {token} done"


@tool(effect="read")
async def act_poison(token: str) -> str:
    """Kill the process, as a text does that some library cannot bear."""
    os.kill(os.getpid(), signal.SIGKILL)
    return token


@tool(effect="read")
async def act_hanging(token: str) -> str:
    """Count forever, so that nothing else can run."""
    while token:
        pass
    return token


@tool(effect="read")
async def act_deep() -> str:
    """Return JSON that is ninety deep."""
    return '{"a":[1,{"b":' * 45 + "1" + "}]}" * 45


@tool(effect="idempotent")
async def act_counted(token: str, number: int, context: ToolExecutionContext) -> str:
    """Do one of many things."""
    _note("counted", token, context)
    return f"{number} done"


@tool(effect="idempotent")
async def act_many_times(token: str, times: float) -> str:
    """Do something so many times."""
    return f"{token} {times}"


def _note(kind: str, token: str, context: ToolExecutionContext) -> None:
    path: Path | None = folder()
    if path is not None:
        append(path / "effects.jsonl", kind=kind, token=token, key=context.idempotency_key)
