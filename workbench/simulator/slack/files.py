"""Files both ways: files.getUploadURLExternal, the upload, files.completeUploadExternal; and url_private."""

import mimetypes

from aiohttp import web

from workbench.simulator.base import OpenedFile
from workbench.simulator.slack.chat import bot_message, check_postable
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.message_rules import Content
from workbench.simulator.slack.method import Hub, Method, find_channel, find_root, listed
from workbench.simulator.slack.shapes import Obj, obj, text
from workbench.simulator.slack.state import make_id

MAX_BYTES = 1024 * 1024 * 1024
"""docs: help center, "Add files to Slack": 1 GB."""
UPLOAD_SECONDS = 600.0
"""Lifetime of an address for an upload; Slack says only that it expires."""


def upload_url(hub: Hub, arguments: Obj) -> Obj:
    length = text(arguments.get("length")) or str(arguments.get("length"))
    if not length.isdigit() or int(length) == 0:
        raise Refusal("missing_argument")
    if int(length) > MAX_BYTES:
        raise Refusal("file_upload_size_restricted")
    file_id = make_id("F")
    asked: Obj = {"id": file_id, "name": text(arguments.get("filename")), "length": int(length), "at": hub.world.now()}
    hub.world.uploads[file_id] = asked
    return {"ok": True, "upload_url": f"{hub.url()}/slack/upload/{file_id}", "file_id": file_id}


async def receive(hub: Hub, request: web.Request) -> web.Response:
    """Accept the bytes of an upload, once, in time and of the announced length."""
    upload = hub.world.uploads.get(request.match_info["file"])
    if upload is None or "size" in upload:
        return web.Response(status=404, text="not found")
    if hub.world.now() - float(str(upload["at"])) > UPLOAD_SECONDS:
        return web.Response(status=410, text="upload URL expired")
    if request.content_type == "multipart/form-data":
        fields = await request.post()
        parts = [part.file.read() for part in fields.values() if isinstance(part, web.FileField)]
        data = b"".join(parts)
    else:
        data = await request.read()
    if len(data) != upload["length"]:
        return web.Response(status=400, text="length mismatch")
    bot = hub.world.config.slack.bot_user
    upload |= file_record(hub, text(upload["id"]), text(upload["name"]), data, bot)
    return web.Response(text=f"OK - {len(data)}")


def complete(hub: Hub, arguments: Obj) -> Obj:
    ids = [text(obj(file).get("id")) for file in listed(arguments, "files")]
    uploads = [hub.world.uploads.get(file_id) for file_id in ids]
    if not ids or any(upload is None or "size" not in upload for upload in uploads):
        raise Refusal("file_not_found")
    titles = [text(obj(file).get("title")) for file in listed(arguments, "files")]
    files: list[Obj] = []
    for title, upload in zip(titles, uploads, strict=True):
        if upload is None or upload.get("shared"):
            raise Refusal("file_not_found")
        files.append({name: value for name, value in upload.items() if name not in ("length", "at")})
        files[-1] |= {"title": title} if title else {}
    if arguments.get("channel_id"):
        channel = find_channel(hub, arguments, "channel_id")
        check_postable(hub, channel)
        content = Content(text=text(arguments.get("initial_comment")))
        message = bot_message(hub, channel, content, find_root(channel, text(arguments.get("thread_ts"))))
        message.files = [*files]
        for upload in uploads:
            if upload is not None:
                upload["shared"] = True
        hub.deliverer.posted(hub.world.add(message))
    return {"ok": True, "files": [*files]}


def file_record(hub: Hub, file_id: str, name: str, data: bytes, user: str) -> Obj:
    """Keep a file's bytes and describe it (reference/objects/file-object)."""
    content_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    hub.world.contents[file_id] = OpenedFile(name, content_type, data)
    url = f"{hub.url()}/slack/files/{file_id}"
    return {
        "id": file_id,
        "created": int(hub.world.now()),
        "user": user,
        "name": name,
        "title": name,
        "mimetype": content_type,
        "filetype": name.rpartition(".")[2],
        "size": len(data),
        "mode": "hosted",
        "is_external": False,
        "url_private": url,
        "url_private_download": f"{url}/download",
    }


async def hand_out(hub: Hub, request: web.Request) -> web.Response:
    """Serve url_private with the bot's token; without a token, Slack shows its sign-in page, as a 200."""
    file = hub.world.contents.get(request.match_info["file"])
    if file is None:
        return web.Response(status=404, text="not found")
    allowed = request.headers.get("Authorization") == f"Bearer {hub.world.config.slack.bot_token}"
    if not allowed or "files:read" not in hub.world.switches.scopes:
        return web.Response(text="<!DOCTYPE html><title>Sign in</title>", content_type="text/html")
    return web.Response(body=file.data, content_type="application/octet-stream")


def info(hub: Hub, arguments: Obj) -> Obj:
    """Return the data of a file: reference/methods/files.info."""
    known = hub.world.uploads.get(text(arguments.get("file")))
    if known is None or "size" not in known:
        raise Refusal("file_not_found")
    told: Obj = {name: value for name, value in known.items() if name not in ("length", "at", "shared")}
    return {"ok": True, "file": told}


METHODS = {
    "files.info": Method(info, ("files:read",), ("file",), json=False),
    "files.getUploadURLExternal": Method(upload_url, ("files:write",), ("filename", "length"), json=False),
    "files.completeUploadExternal": Method(complete, ("files:write",), ("files",)),
}
