"""An MCP server whose tools stand in a file, read again for each request: it can change its mind as an attacker would.

    python -m tests.servers.mcp_script FILE [PORT]     over its pipes, or by HTTP on a port

FILE is JSON: `tools` with name, description, schema, reads, and what a call does (`says`, `fails`, `picture`,
`dies` before or after); `resources` by URI; `token`, without which HTTP answers 401, or `introspects`, the `url` of an
OAuth server that is asked of each token, as `client` with `secret` (RFC 7662). FILE.calls gets each call.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


class Script:
    """What the file says now."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def now(self) -> dict[str, Any]:
        """Return the file's contents."""
        told: dict[str, Any] = json.loads(self.path.read_text())
        return told

    async def list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        """Describe the tools."""
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool["name"],
                    description=tool.get("description", "Does it."),
                    input_schema=tool.get("schema") or {"type": "object", "properties": {}},
                    annotations=types.ToolAnnotations(read_only_hint=tool.get("reads", False)),
                )
                for tool in self.now["tools"]
            ]
        )

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Write the call down and do what the file says."""
        tool = next(tool for tool in self.now["tools"] if tool["name"] == params.name)
        if tool.get("dies") == "before":
            os._exit(1)
        with self.path.with_suffix(".calls").open("a") as calls:
            calls.write(json.dumps({"name": params.name, "arguments": params.arguments or {}}) + "\n")
        if tool.get("dies") == "after":
            os._exit(1)
        await asyncio.sleep(tool.get("sleeps", 0))
        content: list[Any] = [types.TextContent(type="text", text=tool.get("says", "done"))]
        if tool.get("picture"):
            content.append(types.ImageContent(type="image", data=tool["picture"], mime_type="image/png"))
        return types.CallToolResult(content=content, is_error=tool.get("fails", False))

    async def list_resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        """List what can be read."""
        found = self.now.get("resources", {})
        return types.ListResourcesResult(resources=[types.Resource(uri=uri, name=uri) for uri in found])

    async def read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Return a resource's text."""
        text = self.now["resources"][str(params.uri)]
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text=text)])

    def server(self) -> "Server[Any]":
        """Return the server."""
        return Server(
            "scripted",
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_read_resource=self.read_resource,
        )


async def over_pipes(script: Script) -> None:
    """Serve whoever started this process."""
    server = script.server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def over_http(script: Script, port: int) -> None:
    """Serve on loopback."""
    import uvicorn

    app = script.server().streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        sent = dict(scope.get("headers", ())).get(b"authorization", b"").decode()
        if scope["type"] == "http" and not await _lets_in(script.now, sent):
            await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    await uvicorn.Server(uvicorn.Config(guarded, host="127.0.0.1", port=port, log_level="error")).serve()


async def _lets_in(now: dict[str, Any], sent: str) -> bool:
    """Return whether what was sent as authorization is good now."""
    if token := now.get("token"):
        return sent == f"Bearer {token}"
    if not (server := now.get("introspects")):
        return True
    import httpx2

    async with httpx2.AsyncClient(auth=(server["client"], server["secret"])) as http:
        answer = await http.post(server["url"], data={"token": sent.removeprefix("Bearer ")})
    return bool(answer.json().get("active"))


def main() -> None:
    """Run it."""
    script = Script(Path(sys.argv[1]))
    asyncio.run(over_http(script, int(sys.argv[2])) if len(sys.argv) > 2 else over_pipes(script))


if __name__ == "__main__":
    main()
