"""Twilio fetching the files of a message from the gateway, once it has taken the message.

docs: messaging/guides/accepted-mime-types; errors/11200 (not fetched), 12300 (no type that Twilio takes), 11751 (too
large). A URL elsewhere is left alone: nothing here reaches for the network.
"""

import re
from dataclasses import replace

from workbench.simulator.base import Answer, Wire
from workbench.simulator.twilio.state import Debug, Media, Message, Store

MAX_BYTES = 5 * 1000 * 1000
MAX_OTHER = 500 * 1000
_PICTURES = frozenset({"image/jpeg", "image/jpg", "image/gif", "image/png"})
_ACCEPTED = frozenset(
    [
        "image/bmp",
        "image/tiff",
        "text/vcard",
        "text/x-vcard",
        "text/csv",
        "text/rtf",
        "text/richtext",
        "text/calendar",
        "text/directory",
        "application/pdf",
        "application/vcard",
        "application/vnd.apple.pkpass",
        "audio/basic",
        "audio/L24",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/3gpp",
        "audio/3gpp2",
        "audio/ac3",
        "audio/webm",
        "audio/amr",
        "video/mpeg",
        "video/mp4",
        "video/quicktime",
        "video/webm",
        "video/3gpp",
        "video/3gpp2",
    ]
)
_BEGINNINGS = {
    "image/jpeg": b"\xff\xd8\xff",
    "image/png": b"\x89PNG",
    "image/gif": b"GIF8",
    "application/pdf": b"%PDF",
    "audio/ogg": b"OggS",
}
"""First bytes of files by type: a file with other first bytes does not match its header."""


async def fetch_media(wire: Wire, store: Store, message: Message) -> int | None:
    """Fetch the files that lie at the gateway; return the error that fails the message, or None."""
    size = 0
    for index, media in enumerate(message.media):
        if not media.url or not media.url.startswith(wire.public_url):
            continue
        got, error = await _fetch(wire, message, media)
        size += len(got.data)
        error = error or (11751 if size > MAX_BYTES else None)
        if error is not None:
            store.debug.append(Debug(wire.now(), error, message.sid, media.url, got.content_type))
            return error
        message.media[index] = got
    return None


async def _fetch(wire: Wire, message: Message, media: Media) -> tuple[Media, int | None]:
    headers = {"User-Agent": "TwilioProxy/1.1", "Accept": "*/*"}
    answers = [
        await wire.call_gateway("twilio", "twilio.media", method, media.url, headers, b"", message.sid)
        for method in ("HEAD", "GET")
    ]
    head, answer = answers
    if not isinstance(head, Answer) or not isinstance(answer, Answer) or not (head.ok and answer.ok):
        return media, 11200
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    got = replace(media, content_type=kind, data=answer.body, url="", name=_name_of(answer))
    begins = _BEGINNINGS.get(kind)
    if kind not in _PICTURES | _ACCEPTED or (begins and not answer.body.startswith(begins)):
        return got, 12300
    return got, 11751 if kind not in _PICTURES and len(answer.body) > MAX_OTHER else None


def _name_of(answer: Answer) -> str:
    found = re.search(r'filename="([^"]{1,80})"', answer.headers.get("Content-Disposition", ""))
    return found[1] if found else ""
