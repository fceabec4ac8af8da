"""One peer in a process of its own, so that what it does costs nobody else their turns of an event loop.

`python -m tests.faults.peers.serving FILE`, FILE holding the JSON of `PeerPlan`; `… pipes FILE` for one over pipes.
What it meets stands in `peers.jsonl` beside FILE: {"cell", "what": "met" | "elsewhere", "credential"}.
"""

import asyncio
import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.eventually import never
from tests.faults.journals import append
from tests.faults.peers.speech import ELSEWHERE, LINES, WEB, read_request
from tests.servers.hostile_peers import BY_NAME, Manner, Speech, Talk, self_made_context

JOURNAL = "peers.jsonl"
_HEADERS_OF_CREDENTIALS = ("authorization:", "proxy-authorization:", "cookie:")
_GONE = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError)
"""What is not the peer's affair: the client has had enough of it."""


@dataclass(frozen=True, slots=True)
class PeerPlan:
    """Which manner a peer has, how it speaks, and where it listens. `elsewhere`: the address of its accomplice."""

    cell: str
    manner: str
    speech: str
    host: str = ""
    port: int = 0
    elsewhere: str = ""

    @property
    def is_secure(self) -> bool:
        return BY_NAME[self.manner].secured

    @property
    def base(self) -> str:
        """Return its address as a URL of the web."""
        return f"{'https' if self.is_secure else 'http'}://{self.host}:{self.port}"

    def write(self, folder: Path) -> Path:
        """Write it where a process finds it."""
        path = folder / f"peer-{self.cell}.json"
        path.write_text(json.dumps(asdict(self)))
        return path


@dataclass(frozen=True, slots=True)
class Peer:
    """A running peer."""

    plan: PeerPlan
    journal: Path

    @property
    def manner(self) -> Manner:
        return BY_NAME[self.plan.manner]

    async def serve(self) -> None:
        """Listen until the process ends."""
        meet = self.meet_line if self.plan.speech in LINES else self.meet_web
        context = self_made_context(self.plan.host) if self.plan.is_secure else None
        own = await asyncio.start_server(meet, self.plan.host, self.plan.port, ssl=context, limit=1 << 22)
        other = await asyncio.start_server(self.meet_elsewhere, self.plan.elsewhere, self.plan.port)
        async with own, other:
            await never()

    async def meet_line(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak lines with a client."""
        line = LINES[self.plan.speech]
        talk = Talk(reader, writer, line.speech, self._elsewhere)
        turns = "list" if self.manner.listing else line.turns
        with suppress(*_GONE):
            if self.manner.at_once:
                await self._take_over(talk, line.speech)
            await line.talk(talk, turns, partial(self._take_over, talk))
        writer.close()

    async def meet_web(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a client's requests."""
        with suppress(*_GONE):
            if self.manner.at_once:
                await self._take_over(Talk(reader, writer, Speech(lambda value: b"", b""), self._elsewhere), None)
            while not writer.is_closing() and (asked := await read_request(reader, self.plan.base)):
                answer = WEB[self.plan.speech](asked, self.manner)
                kind = "application/json" if isinstance(answer, bytes) else answer.content_type
                speech = answer if isinstance(answer, Speech) else Speech(lambda value: b"", b"", content_type=kind)
                talk = Talk(reader, writer, speech, self._elsewhere, asked.path)
                if isinstance(answer, Speech):
                    await self._take_over(talk, speech)
                elif answer.startswith(b"<?xml"):
                    await talk.head(f"Content-Length: {len(answer)}", kind="application/xml", status="207 Multi-Status")
                    await talk.say(answer)
                elif answer:
                    await talk.answer(answer)
                else:
                    await talk.head("Content-Length: 0", status="202 Accepted")
        writer.close()

    async def meet_elsewhere(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Note whether a credential came to the accomplice."""
        with suppress(*_GONE):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            brought = any(f"\r\n{name}" in head for name in _HEADERS_OF_CREDENTIALS)
            append(self.journal, cell=self.plan.cell, what="elsewhere", credential=brought)
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        writer.close()

    @property
    def _elsewhere(self) -> str:
        return f"http://{self.plan.elsewhere}:{self.plan.port}{ELSEWHERE}"

    async def _take_over(self, talk: Talk, speech: Speech | None) -> None:
        """Let the manner say its answer."""
        append(self.journal, cell=self.plan.cell, what="met")
        talk.speech = speech or talk.speech
        act = self.manner.lines if self.plan.speech in LINES else self.manner.web
        assert act is not None
        await act(talk)


async def serve_pipes(peer: Peer) -> None:
    """Be the peer of who has started this process."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 22)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    await peer.meet_line(reader, asyncio.StreamWriter(transport, protocol, reader, loop))


def main() -> None:
    """Serve until told to end."""
    *how, name = sys.argv[1:]
    path = Path(name)
    peer = Peer(PeerPlan(**json.loads(path.read_text())), path.parent / JOURNAL)
    with suppress(*_GONE):
        asyncio.run(serve_pipes(peer) if how else peer.serve())
    os._exit(0)  # what still drips need not be waited for


if __name__ == "__main__":
    main()
