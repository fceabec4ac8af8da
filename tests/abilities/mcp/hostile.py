"""An MCP server that says whatever a test makes of it, letter by letter: over its pipes, or by HTTP on loopback.

    python -S -E tests/abilities/mcp/hostile.py FOLDER      over its pipes

The answer to `tools/call` stands in the file `call` of FOLDER, with ID in place of the request's id; so does that to
any other method in a file of its name, such as `tools%2Flist`, or `tools%2Flist after CURSOR` for a further page; COUNT
is how much was asked before. What stands in `before` is written before each answer to a call, and `unasked` again and
again after the method that stands in `unasked after`. After the one that stands in `deaf after` nothing is read any
more. With something in `held` a call is answered late: over pipes once more is said, by HTTP once nothing stands there.
By HTTP a call is answered with the status in `status` and the type in `type`. `asked` gets each method that was asked.
"""

import json
import signal
import sys
from pathlib import Path
from typing import Any

INITIALIZED = (
    '{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
    '"serverInfo":{"name":"hostile","version":"1"}}}'
)
UNKNOWN = '{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"unknown"}}'
TOOL = '{"name":"act","description":"Acts.","inputSchema":{"type":"object"}}'
TOOLS = f'{{"jsonrpc":"2.0","id":ID,"result":{{"tools":[{TOOL}]}}}}'
DONE = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"done"}]}}'


class Script:
    """What the files say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def says(self, name: str, text: "str | bytes") -> None:
        """Say something from now on."""
        fresh = self.folder / "new"
        fresh.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
        fresh.replace(self.folder / name.replace("/", "%2F"))

    def said(self, name: str, otherwise: str = "") -> bytes:
        """Return what is said now."""
        path = self.folder / name.replace("/", "%2F")
        return path.read_bytes() if path.exists() else otherwise.encode()

    def answer(self, asked: dict[str, Any]) -> bytes:
        """Note that something was asked, and return the answer."""
        method, cursor = asked["method"], asked.get("params", {}).get("cursor")
        with (self.folder / "asked").open("a") as written:
            written.write(f"{method}\n")
        usual = {"initialize": INITIALIZED, "tools/list": TOOLS, "tools/call": DONE}
        name = "call" if method == "tools/call" else method
        said = self.said(name, usual.get(method, UNKNOWN)) if cursor is None else self.said(f"{name} after {cursor}")
        numbered = said.replace(b"ID", json.dumps(asked["id"]).encode(), 1)
        return numbered.replace(b"COUNT", str(len(self.asked)).encode(), 1)

    @property
    def asked(self) -> list[str]:
        """Return the methods that were asked."""
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []


def main() -> None:
    """Serve whoever started this process."""
    script, lines, out = Script(Path(sys.argv[1])), iter(sys.stdin.buffer), sys.stdout.buffer
    for line in lines:
        asked = json.loads(line)
        if "id" not in asked or "method" not in asked:
            continue
        answer = script.answer(asked)
        if asked["method"] == "tools/call":
            if script.said("held"):
                next(lines, b"")
            out.write(script.said("before"))
        out.write(answer + b"\n")
        out.flush()
        while asked["method"].encode() == script.said("unasked after") and (unasked := script.said("unasked")):
            out.write(unasked + b"\n")
            out.flush()
        if asked["method"].encode() == script.said("deaf after"):
            signal.pause()


if __name__ == "__main__":
    main()
