"""Peers that speak as nobody should: one manner each, for lines (IMAP, SMTP, pipes) and for HTTP, on real sockets.

A manner knows nothing of a client. How a client speaks is its `Speech`: what may stand in the place of a value, which
small unit may come again and again, how an answer ends. So each manner meets each client for which it makes sense.
"""

import asyncio
import gzip
import json
import socket
import ssl
import struct
import tempfile
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from core.json_types import Json
from tests.eventually import never

PAUSE = 0.25
"""Seconds between two pieces of what drips."""
_BLOCK = 64 * 1024
_BOMB = 512 * 1024 * 1024
"""Bytes of a bomb as unpacked."""
_MOST_SAID = 512 * 1024 * 1024
"""Bytes after which what has no end is silent, so that a client without a bound does not end the test's machine."""
_DEEP = 100_000
_MANY = 100_000
"""Headers of one answer."""
_LONG = 1024 * 1024
_OUT_OF_TURN = 200
"""Answers to what was not asked: few enough that their number alone is no reason to end."""
WORDS = b"zqcanary-peer says no"
"""Words of a peer that belong in no log, which is searched for them like for secrets."""


@dataclass(frozen=True, slots=True)
class Speech:
    """How a peer speaks to one kind of client. `body(value)`: a whole answer with `value` in the place of each value.

    `unit` may come again and again, `line` begins one that need not end. `begin` is what comes before units in a body.
    `deep` nests so often. `more` is an answer after which there is always another.
    `asks` wants one more line of the client, `long` announces a piece of 2^40 bytes, `piece` is one of many large ones.
    """

    body: Callable[[str | None], bytes]
    unit: bytes
    line: bytes = b""
    begin: bytes = b""
    content_type: str = "application/json"
    status: str = "200 OK"
    stream_type: str = ""
    """The type of an answer that is made of units, where it is another one."""
    deep: Callable[[int], bytes] = lambda count: b"[" * count + b"]" * count
    elsewhere: Callable[[str], bytes] | None = None
    """An answer that leads to another host's address."""
    more: bytes = b""
    asks: bytes = b""
    long: bytes = b""
    piece: bytes = b""
    farewell: bytes = b""
    """What ends the answer in lines: without it the client waits on."""
    refusal: bytes = b""
    """A refusal in lines, with `WORDS`."""

    @property
    def opening(self) -> bytes:
        """Return what comes before units."""
        return b"" if self.stream_type else self.begin


@dataclass(slots=True)
class Talk:
    """One connection, at the moment at which its peer stops to behave. `elsewhere`: an address of another host."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    speech: Speech
    elsewhere: str = ""
    path: str = "/"

    async def say(self, data: bytes) -> None:
        """Send at the pace at which the client listens."""
        self.writer.write(data)
        await self.writer.drain()

    async def again(self, data: bytes) -> None:
        """Say the same without end: more than any client may keep, and no more than this machine can."""
        for _ in range(_MOST_SAID // len(data)):
            await self.say(data)
        await never()

    async def drip(self, data: bytes) -> None:
        """Say it a byte at a time, again and again."""
        while True:
            for byte in data:
                await self.say(bytes([byte]))
                await asyncio.sleep(PAUSE)

    async def head(self, *headers: str, kind: str = "", status: str = "") -> None:
        """Begin an answer of HTTP, whose body ends with the connection unless a header says otherwise."""
        lines = [
            f"HTTP/1.1 {status or self.speech.status}",
            f"Content-Type: {kind or self.speech.content_type}",
            *headers,
            "",
            "",
        ]
        await self.say("\r\n".join(lines).encode())

    async def answer(self, body: bytes, *headers: str) -> None:
        """Say a whole answer of HTTP."""
        await self.head(f"Content-Length: {len(body)}", *headers)
        await self.say(body)

    def reset(self) -> None:
        """Break the connection off, as a machine that fell over does."""
        linked = self.writer.get_extra_info("socket")
        if linked is not None:
            linked.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort() if linked is not None else self.writer.close()


type Act = Callable[[Talk], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Manner:
    """One way to misbehave: over lines, over HTTP, or both. `at_once`: before the client has said anything."""

    name: str
    why: str
    lines: Act | None = None
    web: Act | None = None
    at_once: bool = False
    secured: bool = False
    """It is about TLS: the server takes nothing else."""
    listing: bool = False
    """It is about a list of what there is, not about what is asked for then."""
    needs: Callable[[Speech], object] = field(default=lambda speech: True)
    """What a speech must have for it."""


async def _drip_lines(talk: Talk) -> None:
    await talk.drip(talk.speech.unit)


async def _drip_web(talk: Talk) -> None:
    await talk.head(kind=talk.speech.stream_type)
    await talk.drip(talk.speech.opening + talk.speech.unit)


async def _drip_head(talk: Talk) -> None:
    await talk.say(b"HTTP/1.1 200 OK\r\n")
    await talk.drip(b"X-Slow: yes\r\n")


async def _flood_lines(talk: Talk) -> None:
    await talk.again(talk.speech.unit * (_BLOCK // len(talk.speech.unit)))


async def _flood_web(talk: Talk) -> None:
    await talk.head(kind=talk.speech.stream_type)
    await talk.say(talk.speech.opening)
    await _flood_lines(talk)


async def _no_line_end(talk: Talk) -> None:
    await talk.say(talk.speech.line)
    await talk.again(b"x" * _BLOCK)


async def _no_header_end(talk: Talk) -> None:
    await talk.say(b"HTTP/1.1 200 OK\r\nX-Long: ")
    await talk.again(b"x" * _BLOCK)


async def _no_body_end(talk: Talk) -> None:
    await talk.head()
    await talk.say(talk.speech.begin + b'"')
    await talk.again(b"x" * _BLOCK)


async def _no_chunk_end(talk: Talk) -> None:
    await talk.head("Transfer-Encoding: chunked")
    await talk.again(b"1;" + b"x" * 100 + b"\r\n \r\n")


async def _gzip_bomb(talk: Talk) -> None:
    await talk.answer(bomb("gzip", talk.speech.begin), "Content-Encoding: gzip")


async def _deflate_bomb(talk: Talk) -> None:
    await talk.head("Content-Encoding: deflate", kind=talk.speech.stream_type)
    await talk.say(bomb("deflate", talk.speech.opening))


async def _never(talk: Talk) -> None:
    await never()


async def _garbage(talk: Talk) -> None:
    noise = bytes((n * n * 31 + n) % 256 for n in range(_BLOCK))
    await talk.say(noise)
    await never()


async def _half_a_line(talk: Talk) -> None:
    await talk.say(talk.speech.unit[: max(1, len(talk.speech.unit) // 2)])
    talk.writer.close()


async def _half_a_head(talk: Talk) -> None:
    await talk.say(b"HTTP/1.1 20")
    talk.writer.close()


async def _reset_lines(talk: Talk) -> None:
    await talk.say(talk.speech.unit)
    talk.reset()


async def _reset_web(talk: Talk) -> None:
    await talk.head("Content-Length: 100000")
    await talk.say(talk.speech.begin)
    talk.reset()


def _with(value: str) -> tuple[Act, Act]:
    """Return what answers well, but with one value in the place of each other."""

    async def lines(talk: Talk) -> None:
        await talk.say(talk.speech.body(value) + talk.speech.farewell)

    async def web(talk: Talk) -> None:
        await talk.answer(talk.speech.body(value))

    return lines, web


async def _deep_lines(talk: Talk) -> None:
    await talk.say(talk.speech.deep(_DEEP) + talk.speech.farewell)


async def _deep_web(talk: Talk) -> None:
    await talk.answer(talk.speech.deep(_DEEP))


async def _redirect(talk: Talk, where: str) -> None:
    await talk.head(f"Location: {where}", "Content-Length: 0", status="307 Temporary Redirect")


async def _redirects_on(talk: Talk) -> None:
    number = int(talk.path.rpartition("-")[2]) if "again-" in talk.path else 0
    await _redirect(talk, f"/again-{number + 1}")


async def _elsewhere(talk: Talk) -> None:
    if talk.speech.elsewhere is None:
        await _redirect(talk, talk.elsewhere)
    else:
        await talk.answer(talk.speech.elsewhere(talk.elsewhere))


async def _more_lines(talk: Talk) -> None:
    await talk.say(talk.speech.more)


async def _more_web(talk: Talk) -> None:
    await talk.answer(talk.speech.more)


async def _good_lines(talk: Talk) -> None:
    await talk.say(talk.speech.body(None) + talk.speech.farewell)


async def _good_web(talk: Talk) -> None:
    await talk.answer(talk.speech.body(None))


async def _many_headers(talk: Talk) -> None:
    await talk.say(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: 1\r\n" % n for n in range(_MANY)) + b"\r\n")
    await talk.say(talk.speech.body(None))


async def _long_header(talk: Talk) -> None:
    body = talk.speech.body(None)
    await talk.answer(body, f"X-Long: {'x' * _LONG}")


async def _unasked_lines(talk: Talk) -> None:
    for _ in range(_OUT_OF_TURN):
        await talk.say(b"zq9 " + talk.speech.unit)
    await never()


async def _unasked_web(talk: Talk) -> None:
    for _ in range(_OUT_OF_TURN):
        await talk.answer(talk.speech.body(None))
    await never()


async def _too_long(talk: Talk) -> None:
    await talk.head("Content-Length: 99999999999")
    await talk.say(talk.speech.body(None))
    await never()


async def _too_short(talk: Talk) -> None:
    await talk.head("Content-Length: 3")
    await talk.say(talk.speech.body(None))
    await never()


async def _slow_close_lines(talk: Talk) -> None:
    await talk.say(talk.speech.body(None) + talk.speech.farewell)
    await talk.drip(talk.speech.unit)


async def _slow_close_web(talk: Talk) -> None:
    body = talk.speech.body(None)
    await talk.head("Transfer-Encoding: chunked")
    await talk.say(b"%x\r\n%b\r\n" % (len(body), body))
    await talk.drip(b"000000000000")


async def _informs(talk: Talk) -> None:
    await talk.again(b"HTTP/1.1 102 Processing\r\n\r\n" * 100)


async def _asks(talk: Talk) -> None:
    await talk.again(talk.speech.asks)


async def _long_piece(talk: Talk) -> None:
    await talk.say(talk.speech.long)
    await talk.again(b"x" * _BLOCK)


async def _pieces(talk: Talk) -> None:
    await talk.again(talk.speech.piece)


async def _refuses_forever(talk: Talk) -> None:
    await talk.head("Retry-After: 99999999999999999999", status="429 Too Many Requests")
    await talk.say(b"x" * 10_000)


async def _refuses_lines(talk: Talk) -> None:
    await talk.say(talk.speech.refusal)


async def _refuses_web(talk: Talk) -> None:
    words = WORDS.decode()
    body = json.dumps({"error": words, "error_description": words, "message": words}).encode()
    await talk.head(f"X-Reason: {words}", f"Content-Length: {len(body)}", status=f"400 {words}")
    await talk.say(body)


_lists, _nulls = _with('[{"a": [1]}]'), _with("null")
_huge, _endless, _negative = _with("9223372036854775808"), _with("1e400"), _with("-1")
_letters = _with('"\\ud800\\u0000\\udfff"')

GOOD = Manner(
    "as it should", "the control: the client reaches the peer, and is told what it asked for", _good_lines, _good_web
)
MANNERS: tuple[Manner, ...] = (
    Manner("drips", "each byte ends a time-out of silence, so only one of all ends it", _drip_lines, _drip_web),
    Manner("drips its headers", "what is read before a body has a time of its own", web=_drip_head),
    Manner(
        "floods with small units",
        "a full buffer never makes a loop wait, so others have no turn",
        _flood_lines,
        _flood_web,
    ),
    Manner(
        "a line without an end",
        "a reader that wants a line keeps all of it",
        _no_line_end,
        _no_header_end,
        needs=lambda speech: speech.line or speech.content_type,
    ),
    Manner("a body without an end", "a reader that wants all of it keeps all of it", web=_no_body_end),
    Manner("chunks of one byte", "what is packed around a byte is counted nowhere", web=_no_chunk_end),
    Manner("a gzip bomb", "bytes on the wire are not bytes in memory", web=_gzip_bomb),
    Manner("a deflate bomb in a stream", "a stream is unpacked as it comes", web=_deflate_bomb),
    Manner("never an answer", "who waits holds a turn, a slot or a thread", _never, _never),
    Manner("silent from the first", "so is who waits for a greeting", _never, _never, at_once=True),
    Manner("garbage", "a parser meets what it knows nothing of", _garbage, _garbage),
    Manner("half a line, then closes", "the end comes where nobody looks for it", _half_a_line, _half_a_head),
    Manner("breaks off in the middle", "a reset is another error than an end", _reset_lines, _reset_web),
    Manner("lists in place of each value", "a type that nobody asked for", *_lists),
    Manner("nothing in place of each value", "null is a value", *_nulls),
    Manner("2^63 in place of each value", "larger than a column", *_huge),
    Manner("1e400 in place of each value", "read as infinity", *_endless),
    Manner("-1 in place of each value", "no count, no size and no time", *_negative),
    Manner("lone surrogates and NUL", "neither can be stored or encoded", *_letters),
    Manner("deep nesting", "parsers call themselves", _deep_lines, _deep_web),
    Manner("redirects without an end", "each is a request", web=_redirects_on),
    Manner("leads to another host", "where no credential may go", web=_elsewhere),
    Manner(
        "pages without an end",
        "each page names a next one",
        _more_lines,
        _more_web,
        listing=True,
        needs=lambda speech: speech.more,
    ),
    Manner("another certificate each time", "nobody vouches for who answers", _good_lines, _good_web, secured=True),
    Manner("100,000 headers", "each is kept", web=_many_headers),
    Manner("a header of 1 MB", "more than a page", web=_long_header),
    Manner("answers to what was not asked", "who waits for their own has to skip them", _unasked_lines, _unasked_web),
    Manner("a length that is too long", "the rest never comes", web=_too_long),
    Manner("a length that is too short", "the rest is no answer", web=_too_short),
    Manner("does not close", "the farewell is read too", _slow_close_lines, _slow_close_web),
    Manner("1xx without an end", "none of them is the answer", web=_informs),
    Manner("refuses for ever", "a pause that a peer names is no pause of ours", web=_refuses_forever),
    Manner("refuses in its own words", "they are for its person, not for the log", _refuses_lines, _refuses_web),
    Manner("asks without an end", "each question is answered", _asks, needs=lambda speech: speech.asks),
    Manner("a piece of 2^40 bytes", "what is announced is waited for", _long_piece, needs=lambda speech: speech.long),
    Manner("large pieces without an end", "each is within its own limit", _pieces, needs=lambda speech: speech.piece),
)
BY_NAME = {manner.name: manner for manner in (GOOD, *MANNERS)}


def json_body(document: Json) -> Callable[[str | None], bytes]:
    """Return what writes a document, with a value in the place of each of its own."""

    def written(value: str | None) -> bytes:
        if value is None:
            return json.dumps(document).encode()
        return json.dumps(_replaced(document)).replace(f'"{_PLACE}"', value).encode()

    return written


_PLACE = "zq-place"


def _replaced(document: Json) -> Json:
    if isinstance(document, dict):
        # What makes an answer the one that was asked for stays as it is.
        return {key: value if key in ("jsonrpc", "id") else _replaced(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_replaced(value) for value in document]
    return _PLACE


@cache
def bomb(encoding: str, begin: bytes) -> bytes:
    """Return a small body that unpacks to 512 MB."""
    block = b" " * (16 * 1024 * 1024)
    if encoding == "gzip":
        # Members after one another are one body (RFC 1952 2.2), so one has to be packed only once.
        member = gzip.compress(block, 9)
        return gzip.compress(begin, 9) + member * (_BOMB // len(block))
    packer = zlib.compressobj(9)
    opened = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush nothing refers to what was before: what packs one block packs the next.
    return opened + (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)) * (_BOMB // len(block))


def self_made_context(name: str) -> ssl.SSLContext:
    """Return TLS with a certificate that nobody vouches for, another one each time."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(path)
    return context
