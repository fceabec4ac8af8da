"""Files to Slack in three steps, of which only the last is visible: request an address, upload there, share.

A process that dies between them leaves an invisible upload, which Slack deletes. The share takes no metadata: a lost
share is found in the history by its name and size, among our own files.

Source: docs.slack.dev, messaging/working-with-files; reference/methods/files.getUploadURLExternal and
files.completeUploadExternal.
"""

from core.errors import Ambiguous, Unavailable
from core.json_types import JsonObject
from core.messaging.channels import Receipt, Target
from core.messaging.files import OutgoingFile
from core.messaging.messages import Media
from providers.slack.client import SlackApi

MAX_UPLOAD = 1024 * 1024 * 1024
_TOLD = ("user", "name", "size")


def carries(file: Media) -> bool:
    """Return whether Slack takes a file."""
    return 0 < (file.size or 0) <= MAX_UPLOAD


async def upload(client: SlackApi, file: OutgoingFile, data: bytes, to: Target) -> Receipt:
    """Upload a file and share it. Raises `DeliveryError`."""
    try:
        asked: JsonObject = {"filename": file.name, "length": str(len(data))}
        place = await client.call("files.getUploadURLExternal", asked, get=True)
        await client.upload(str(place.get("upload_url") or ""), data)
    except Ambiguous as error:
        # With any outcome, the upload is not visible to people.
        raise Unavailable(f"not uploaded: {error}", error.code) from error
    file_id = str(place.get("file_id") or "")
    share: JsonObject = {"files": [{"id": file_id, "title": file.name}], "channel_id": to.address.peer}
    if to.address.thread:
        share["thread_ts"] = to.address.thread
    await client.call("files.completeUploadExternal", share)
    return Receipt(provider_id=file_id)


def shares(message: JsonObject, file: OutgoingFile, user: str) -> str | None:
    """Return Slack's id of a file if a message shares it, uploaded by this user."""
    files = message.get("files")
    for shared in files if isinstance(files, list) else []:
        if isinstance(shared, dict) and [shared.get(key) for key in _TOLD] == [user, file.name, file.size]:
            return str(shared.get("id") or "")
    return None
