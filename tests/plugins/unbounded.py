"""A client as none may be: it keeps all that a server says, and for as long as it speaks."""

import asyncio

from core.tools.tool import tool


# Longer than anybody of the test waits: the usual limit of a tool's time would tell the person for it.
@tool(effect="read", timeout=300)
async def act_unbounded(host: str, port: int) -> str:
    """Read what a server says until it is ready."""
    reader, writer = await asyncio.open_connection(host, port)
    heard = bytearray()
    while not heard.endswith(b"ready\r\n") and (piece := await reader.read(1 << 20)):
        heard += piece
    writer.close()
    return heard[:100].decode()
