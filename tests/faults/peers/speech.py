"""How the peers of each client speak: well, until the moment at which a manner takes over."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from core.json_types import Json, JsonObject
from tests.servers.hostile_peers import WORDS, Manner, Speech, Talk, json_body

GOOD = "zqgood"
"""A word of every answer as it should be."""
TOOL: JsonObject = {
    "name": "light",
    "description": "Switch the light.",
    "inputSchema": {"type": "object", "properties": {}},
    "annotations": {"readOnlyHint": True},
}
ELSEWHERE = "/elsewhere/"
_LITERAL = re.compile(rb"\{([0-9]+)\+?\}\r\n\Z")

type Turn = Callable[[Speech], Awaitable[None]]
"""Lets the manner take over for one answer."""


@dataclass(frozen=True, slots=True)
class Line:
    """A peer of lines. `turns`: the command at which the manner takes over; empty for the greeting."""

    talk: Callable[[Talk, str, Turn], Awaitable[None]]
    speech: Speech
    turns: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of HTTP."""

    method: str
    path: str
    body: bytes
    base: str


type Route = Callable[[Asked, Manner], Speech | bytes]
"""Return what a request is answered with: a whole answer, or a speech by which the manner takes over."""

# --- Lines


async def imap(talk: Talk, turns: str, turn: Turn) -> None:
    """Be a mail server for reading."""
    speech = talk.speech
    if turns:
        await talk.say(b"* OK ready\r\n")
    else:
        await turn(speech)
    idling = b""
    while line := await _command(talk):
        tag, verb, *rest = [*line.upper().split(), b"", b""]
        tag = line.split()[0] if line.split() else b""
        if verb == b"UID":
            verb = rest[0]
        if line.strip().upper() == b"DONE":
            await talk.say(idling + b" OK done\r\n")
        elif verb.decode(errors="replace") == turns:
            idling = tag
            if verb == b"IDLE":
                await talk.say(b"+ idling\r\n")
                await turn(speech)
            else:
                refusal = tag + b" NO " + WORDS + b"\r\n"
                await turn(replace(speech, farewell=tag + b" OK done\r\n", refusal=refusal))
        elif verb == b"IDLE":
            idling = tag
            await talk.say(b"+ idling\r\n")
        else:
            if verb == b"AUTHENTICATE" and len(line.split()) < 4:
                await talk.say(b"+ \r\n")
                await talk.reader.readline()
            await talk.say(_IMAP.get(verb, b"") + tag + b" OK done\r\n")
            if verb == b"LOGOUT":
                return


async def _command(talk: Talk) -> bytes:
    """Read a command with its literals."""
    line = await talk.reader.readline()
    while match := _LITERAL.search(line):
        if not match[0].startswith(b"{%b+" % match[1]):
            await talk.say(b"+ go on\r\n")
        await talk.reader.readexactly(int(match[1]))
        line = line[: match.start()] + b"{}" + await talk.reader.readline()
    return line


_FOLDER = b"* 3 EXISTS\r\n* 0 RECENT\r\n* FLAGS (\\Seen)\r\n* OK [UIDVALIDITY 7]\r\n* OK [UIDNEXT 4]\r\n"
_IMAP: Mapping[bytes, bytes] = {
    b"CAPABILITY": b"* CAPABILITY IMAP4rev1 IDLE AUTH=PLAIN\r\n",
    b"SELECT": _FOLDER,
    b"EXAMINE": _FOLDER,
    b"LIST": b'* LIST (\\HasNoChildren) "/" INBOX\r\n',
    b"STATUS": b"* STATUS INBOX (MESSAGES 3)\r\n",
    b"SEARCH": b"* SEARCH\r\n",
    b"LOGOUT": b"* BYE\r\n",
}


def _imap_body(good: bytes, odd: bytes) -> Callable[[str | None], bytes]:
    return lambda value: good if value is None else odd.replace(b"%", value.encode())


_IMAP_SPEECH = Speech(
    _imap_body(b"* SEARCH\r\n", b"* % EXISTS\r\n* SEARCH % %\r\n* % FETCH (UID % RFC822.SIZE %)\r\n"),
    unit=b"* OK still here\r\n",
    line=b"* OK ",
    deep=lambda count: b"* 1 FETCH " + b"(" * count + b"\r\n",
    asks=b"+ \r\n",
    long=b"* 1 FETCH (UID 1 BODY[] {1099511627776}\r\n",
    piece=b"* 1 FETCH (UID 1 BODY[] {1500000}\r\n" + b"x" * 1_500_000 + b")\r\n",
    refusal=b"* BYE " + WORDS + b"\r\n",
)
_GREETING = replace(_IMAP_SPEECH, body=_imap_body(b"* OK ready\r\n", b"* OK %\r\n* CAPABILITY %\r\n* % EXISTS\r\n"))
_NEWS = replace(_IMAP_SPEECH, body=_imap_body(b"* OK nothing new\r\n", b"* % EXISTS\r\n* % FETCH (FLAGS (%))\r\n"))


async def smtp(talk: Talk, turns: str, turn: Turn) -> None:
    """Be a mail server for sending."""
    if turns:
        await talk.say(b"220 ready\r\n")
    else:
        await turn(talk.speech)
    while line := await talk.reader.readline():
        verb = line.upper().split()[0].decode(errors="replace") if line.split() else ""
        if verb == turns:
            await turn(talk.speech)
        elif verb == "DATA":
            await talk.say(b"354 go on\r\n")
            while (await talk.reader.readline()) not in (b".\r\n", b""):
                pass
            await talk.say(b"250 OK\r\n")
        else:
            await talk.say(_SMTP.get(verb, b"250 OK\r\n"))
            if verb == "QUIT":
                return


_SMTP: Mapping[str, bytes] = {
    "EHLO": b"250-peer\r\n250 AUTH PLAIN\r\n",
    "AUTH": b"235 OK\r\n",
    "QUIT": b"221 bye\r\n",
}


def _smtp_speech(code: bytes) -> Speech:
    return Speech(
        lambda value: code + b" OK\r\n" if value is None else b"%b %b\r\n" % (value.encode(), value.encode()),
        unit=code + b"-still here\r\n",
        line=code + b"-",
        deep=lambda count: code + b"-" + b"(" * count + b"\r\n" + code + b" OK\r\n",
        refusal=b"550 " + WORDS + b"\r\n",
    )


async def mcp_lines(talk: Talk, turns: str, turn: Turn) -> None:
    """Be an MCP server over pipes."""
    while line := await talk.reader.readline():
        asked = json.loads(line)
        if asked.get("method") == turns or (asked.get("method") == "tools/list" and turns == "list"):
            await turn(_mcp_speech(asked, lines=True))
        elif "id" in asked and "method" in asked:
            await talk.say(json.dumps(_mcp_answer(asked)).encode() + b"\n")


LINES: Mapping[str, Line] = {
    "imap": Line(imap, _IMAP_SPEECH, "SEARCH"),
    "imap idle": Line(imap, _NEWS, "IDLE"),
    "imap greeting": Line(imap, _GREETING),
    "smtp": Line(smtp, _smtp_speech(b"250"), "MAIL"),
    "smtp greeting": Line(smtp, _smtp_speech(b"220")),
    "mcp pipes": Line(mcp_lines, Speech(lambda value: b"", b""), "tools/call"),
}

# --- MCP


def _mcp_answer(asked: JsonObject) -> JsonObject:
    """Return the answer of a server that behaves."""
    method, parameters = asked.get("method"), asked.get("params")
    id = asked["id"]
    if method == "initialize" and isinstance(parameters, dict):
        known: JsonObject = {"tools": {}}
        told: JsonObject = {"protocolVersion": parameters["protocolVersion"], "capabilities": known}
        return {"jsonrpc": "2.0", "id": id, "result": told | {"serverInfo": {"name": "peer", "version": "1"}}}
    if method == "tools/list":
        return {"jsonrpc": "2.0", "id": id, "result": {"tools": [TOOL]}}
    if method == "ping":
        return {"jsonrpc": "2.0", "id": id, "result": {}}
    return {"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}


def _mcp_speech(asked: JsonObject, *, lines: bool) -> Speech:
    document: JsonObject = {
        "jsonrpc": "2.0",
        "id": asked["id"],
        "result": {"content": [{"type": "text", "text": GOOD}], "isError": False},
    }
    end = b"\n" if lines else b""
    whole, deep = json_body(document), b'{"jsonrpc":"2.0","id":%d,"result":' % int(str(asked["id"]))
    said = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    failed: JsonObject = {"code": -32000, "message": WORDS.decode()}
    next_page: JsonObject = {"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": [TOOL], "nextCursor": "on"}}
    return Speech(
        lambda value: whole(value) + end,
        unit=said.encode() + b"\n" if lines else b"event: message\ndata: " + said.encode() + b"\n\n",
        line=deep + b'"',
        begin=deep + b'{"content":[',
        stream_type="text/event-stream",
        deep=lambda count: deep + b"[" * count + b"]" * count + b"}" + end,
        more=json.dumps(next_page).encode() + end,
        refusal=json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": failed}).encode() + end,
    )


def _mcp(asked: Asked, manner: Manner) -> Speech | bytes:
    try:
        request = json.loads(asked.body)
    except ValueError:
        return b""
    if request.get("method") == ("tools/list" if manner.listing else "tools/call"):
        return _mcp_speech(request, lines=False)
    return json.dumps(_mcp_answer(request)).encode() if "id" in request else b""


# --- HTTP


def _json_speech(document: Json) -> Speech:
    return Speech(json_body(document), unit=b'{"a": 1},', begin=b'{"zq": [')


def _page(asked: Asked, manner: Manner) -> Speech:
    text = f"<html><head><title>{GOOD}</title></head><body><article><p>{GOOD} and more.</p></article></body></html>"
    return Speech(
        lambda value: text.replace(GOOD, value or GOOD).encode(),
        unit=b"<p>More of it.</p>\n",
        begin=b"<html><body>",
        content_type="text/html; charset=utf-8",
        deep=lambda count: b"<html><body>" + b"<div>" * count + b"deep",
    )


def _dav(kind: str) -> Route:
    type_of = {"calendar": "C:calendar", "addressbook": "R:addressbook"}[kind]

    def listing(href: str, name: str) -> bytes:
        return (
            f'<?xml version="1.0"?><D:multistatus {_SPACES}><D:response><D:href>{href}</D:href><D:propstat><D:prop>'
            f"<D:resourcetype><D:collection/><{type_of}/></D:resourcetype><D:displayname>{name}</D:displayname>"
            "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"
        ).encode()

    def route(asked: Asked, manner: Manner) -> Speech | bytes:
        if asked.method != "PROPFIND":
            return f'<?xml version="1.0"?><D:multistatus {_SPACES}></D:multistatus>'.encode()
        return Speech(
            lambda value: listing(asked.path if value is None else value, GOOD if value is None else value),
            unit=b"<D:response><D:href>/a</D:href></D:response>",
            begin=f'<?xml version="1.0"?><D:multistatus {_SPACES}>'.encode(),
            content_type="application/xml; charset=utf-8",
            status="207 Multi-Status",
            deep=lambda count: b"<a>" * count,
            elsewhere=lambda url: listing(url, GOOD),
        )

    return route


_SPACES = 'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:R="urn:ietf:params:xml:ns:carddav"'


def _oauth(turns: str) -> Route:
    def route(asked: Asked, manner: Manner) -> Speech | bytes:
        base = asked.base
        known: JsonObject = {
            name: f"{base}/{name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")
        }
        described: JsonObject = {"issuer": base, **known}
        granted: JsonObject = {
            "access_token": GOOD,
            "refresh_token": "next",
            "expires_in": 3600,
            "token_type": "Bearer",
        }
        if asked.path.endswith("openid-configuration"):
            return _json_speech(described) if turns == "discovery" else json.dumps(described).encode()
        if turns == "token" or "again-" in asked.path:
            return _json_speech(granted)
        return json.dumps(granted).encode()

    return route


def _always(document: Json) -> Route:
    return lambda asked, manner: _json_speech(document)


def _speech(asked: Asked, manner: Manner) -> Speech:
    """Be a speech model: its answers are recordings."""
    # Imported here: a peer over pipes is started within its client's patience, and needs none of it.
    from providers.models.silent_speech import recorded

    return Speech(
        lambda value: recorded(value or GOOD, "mp3"), unit=recorded("", "mp3"), begin=b"ID3", content_type="audio/mpeg"
    )


def _model(asked: Asked, manner: Manner) -> Speech | bytes:
    """Be a model with OpenAI's chat completions, whole or as a stream, as it is asked for."""
    wants_stream = b'"stream":true' in asked.body.replace(b" ", b"")
    part: JsonObject = {"role": "assistant", "content": GOOD}
    choice: JsonObject = {"index": 0, "finish_reason": "stop", "delta" if wants_stream else "message": part}
    answer: JsonObject = {"id": "a", "object": "chat.completion", "created": 1, "model": "peer", "choices": [choice]}
    whole = json_body(answer | {"usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}})
    if not wants_stream:
        return Speech(whole, unit=b'{"index": 0},', begin=b'{"id": "a", "choices": [')
    unit = b"data: " + json.dumps(answer | {"choices": [{"index": 0, "delta": {"content": "x "}}]}).encode() + b"\n\n"
    return Speech(
        lambda value: b"data: " + whole(value) + b"\n\ndata: [DONE]\n\n",
        unit=unit,
        line=b"data: ",
        content_type="text/event-stream",
        stream_type="text/event-stream",
        deep=lambda count: b"data: " + b"[" * count + b"]" * count + b"\n\n",
    )


WEB: Mapping[str, Route] = {
    "page": _page,
    "caldav": _dav("calendar"),
    "carddav": _dav("addressbook"),
    "oauth discovery": _oauth("discovery"),
    "oauth token": _oauth("token"),
    "mcp": _mcp,
    "ntfy": _always({"id": GOOD, "time": 1, "event": "message", "topic": "peers", "message": "x"}),
    "transcription": _always({"text": GOOD}),
    "speech": _speech,
    "model": _model,
}


async def read_request(reader: asyncio.StreamReader, base: str) -> Asked | None:
    """Read one request; None where the client has gone."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *headers = head.decode("latin-1").split("\r\n")
    method, path, *_ = [*first.split(" "), ""]
    named = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in headers)}
    if "chunked" in named.get("transfer-encoding", ""):
        body = b""
        while size := int((await reader.readline()).strip() or b"0", 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        body = await reader.readexactly(int(named.get("content-length", "0")))
    return Asked(method, path, body, base)
