"""A file of which a message has only the id: files.info tells where it is, and is not trusted further than Slack."""

import json
from typing import Any

import pytest
from aiohttp import web

from channels.http.app import serve
from channels.slack.media import SlackMedia
from core.files.kinds import FileFailure
from core.files.types import FileNotFetched
from core.messaging.messages import Media
from tests.channels.slack.builders import BOT_TOKEN


def told(**file: Any) -> bytes:
    return json.dumps({"ok": True, "file": file}).encode()


@pytest.mark.parametrize(
    ("body", "status", "failure"),
    [
        (b'{"ok": false, "error": "file_not_found"}', 200, FileFailure.GONE),
        (told(file_access="access_denied"), 200, FileFailure.GONE),
        (told(url_private="https://evil.example/1"), 200, FileFailure.GONE),
        (told(url_private="slack-file:F0CONNECT1"), 200, FileFailure.GONE),
        (told(url_private=5), 200, FileFailure.GONE),
        (b'{"ok": true}', 200, FileFailure.GONE),
        (b"[5]", 200, FileFailure.GONE),
        (b"<!DOCTYPE html>", 200, FileFailure.GONE),
        (b"[" * 100_000, 200, FileFailure.GONE),
        (b"\xff", 200, FileFailure.GONE),
        (b"{}", 429, FileFailure.UNREACHABLE),
    ],
    ids=["not found", "denied", "elsewhere", "again", "number", "none", "list", "page", "deep", "bytes", "too fast"],
)
async def test_what_files_info_tells_is_checked_as_any_address_is(
    body: bytes, status: int, failure: FileFailure
) -> None:
    async def answer(request: web.Request) -> web.Response:
        assert (request.path, request.query["file"]) == ("/slack/api/files.info", "F0CONNECT1")
        return web.Response(status=status, body=body)

    app = web.Application()
    app.router.add_get("/slack/api/files.info", answer)
    async with serve(app, "127.0.0.1", 0) as port:
        media = SlackMedia(bot_token=BOT_TOKEN, api_url=f"http://127.0.0.1:{port}/slack/api/")
        with pytest.raises(FileNotFetched) as raised:
            await media.fetch(Media("slack-file:F0CONNECT1", ""), 1000)
        await media.close()
    assert raised.value.failure is failure
