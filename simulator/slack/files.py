"""files.getUploadURLExternal, the upload itself, files.completeUploadExternal."""

from aiohttp import web

from simulator.slack.chat import bot_message, check_postable
from simulator.slack.message_rules import Content
from simulator.slack.method import Hub, Method, find_channel, find_root, listed
from simulator.slack.refused import Refused
from simulator.slack.shapes import Obj, obj, text
from simulator.slack.world import make_id


def upload_url(hub: Hub, arguments: Obj) -> Obj:
    """Give an address to upload to (methods/files.getUploadURLExternal)."""
    length = text(arguments.get("length")) or str(arguments.get("length"))
    if not length.isdigit() or int(length) == 0:
        raise Refused("missing_argument")
    file_id = make_id("F")
    hub.world.uploads[file_id] = {
        "id": file_id,
        "name": text(arguments.get("filename")),
        "length": int(length),
    }
    return {"ok": True, "upload_url": f"{hub.url()}/slack/upload/{file_id}", "file_id": file_id}


async def receive(hub: Hub, request: web.Request) -> web.Response:
    """Take the bytes of an upload, once and of the announced length."""
    upload = hub.world.uploads.get(request.match_info["file"])
    if upload is None or "size" in upload:
        return web.Response(status=404, text="not found")
    if request.content_type == "multipart/form-data":
        fields = await request.post()
        parts = [part.file.read() for part in fields.values() if isinstance(part, web.FileField)]
        data = b"".join(parts)
    else:
        data = await request.read()
    if len(data) != upload["length"]:
        return web.Response(status=400, text="length mismatch")
    upload["size"] = len(data)
    return web.Response(text=f"OK - {len(data)}")


def complete(hub: Hub, arguments: Obj) -> Obj:
    """Finish uploads and share them (methods/files.completeUploadExternal)."""
    ids = [text(obj(one).get("id")) for one in listed(arguments, "files")]
    uploads = [hub.world.uploads.get(one) for one in ids]
    if not ids or any(upload is None or "size" not in upload for upload in uploads):
        raise Refused("file_not_found")
    files = [dict(upload) for upload in uploads if upload is not None]
    if arguments.get("channel_id"):
        channel = find_channel(hub, arguments, "channel_id")
        check_postable(hub, channel)
        content = Content(text=text(arguments.get("initial_comment")))
        message = bot_message(hub, channel, content, find_root(channel, text(arguments.get("thread_ts"))))
        message.files = [*files]
        hub.deliverer.posted(hub.world.add(message))
    return {"ok": True, "files": [*files]}


METHODS = {
    "files.getUploadURLExternal": Method(upload_url, ("files:write",), ("filename", "length"), json=False),
    "files.completeUploadExternal": Method(complete, ("files:write",), ("files",)),
}
