"""The files of a Bot API Message as references, fetched later and only when asked; pure.

Source: core.telegram.org/bots/api#message. `tg:` and a file_id make the reference: a download needs getFile, whose
address holds the token and ends after an hour. A contact comes whole in the message, and is a file of a single card.
"""

import math
import re
from dataclasses import replace

from channels.fields import text_at
from channels.telegram.rich import rich_files
from core.errors import RequestRefused
from core.json_types import Json, JsonObject, objects_in
from core.messaging.messages import Media
from providers.telegram.wire import CARD_SCHEME, FILE_SCHEME

# The name of the field, and the type of such a file if Telegram does not give it.
_FILES = {
    "document": "application/octet-stream",
    "voice": "audio/ogg",
    "audio": "audio/mpeg",
    "video": "video/mp4",
    "video_note": "video/mp4",
    "animation": "video/mp4",
}
_RECORDED = frozenset({"voice", "video_note"})
"""Files that the app records for the chat: any other file may be a third party's."""


def read_media(message: JsonObject) -> tuple[Media, ...]:
    """Return the files of a message. Raises `RequestRefused` if any is malformed."""
    media = _largest(message.get("photo", []))
    if not media and isinstance(live := message.get("live_photo"), dict):  # else its still stands in `photo`, too
        media = _largest(live.get("photo", [])) or [_file(live, "video/mp4")]
    for name, content_type in _FILES.items():
        if name == "document" and "animation" in message:
            continue  # the same file again, for older bots
        if name in message:
            media.append(replace(_file(message[name], content_type), voice=name in _RECORDED))
    if "contact" in message:
        media += _card(message["contact"])
    paid = message.get("paid_media")
    for item in objects_in(paid.get("paid_media") if isinstance(paid, dict) else None):
        media += read_media(item)
    for block in rich_files(message.get("rich_message")):
        media += (replace(file, voice=False) for file in read_media(block))
    return tuple(media)


def _largest(sizes: Json) -> list[Media]:
    """Return the largest of a photo's sizes, none for no sizes; without `file_size`, the pixels count."""
    if not isinstance(sizes, list):
        raise RequestRefused("photo is not a list of sizes")
    files = [(_file(size, "image/jpeg"), _pixels(size)) for size in sizes]
    return [max(files, key=lambda file: (file[1], file[0].size or 0))[0]] if files else []


def _pixels(size: Json) -> int:
    sides = (size.get("width"), size.get("height")) if isinstance(size, dict) else ()
    return math.prod(side if isinstance(side, int) else 0 for side in sides)


def _card(value: Json) -> list[Media]:
    """Return a contact as a file with a card (core.telegram.org/bots/api#contact); none if it is empty.

    Telegram adds the card of the phone's address book if it has any; else the card has the name and the number. People
    save numbers without a name, and apps send names without a number, though the description requires both. Its text
    stays plain, so that words to be forgotten are found in it.
    """
    if not isinstance(value, dict):
        raise RequestRefused("contact is not an object")
    number, first, last, card = (text_at(value, name) for name in ("phone_number", "first_name", "last_name", "vcard"))
    if not (number or first or last or card):
        return []
    name = " ".join(part for part in (first, last) if part) or number
    if not card.lstrip().upper().startswith("BEGIN:VCARD"):
        if number and "user_id" in value and not number.startswith("+"):
            number = (
                f"+{number}"  # Telegram's own numbers are international; an address book's number is as written there
            )
        lines = ("BEGIN:VCARD", "VERSION:3.0", f"N:{_escaped(last)};{_escaped(first)};;;", f"FN:{_escaped(name)}")
        phone = (f"TEL;TYPE=CELL:{_escaped(number)}",) if number else ()
        card = "\r\n".join((*lines, *phone, "END:VCARD", ""))
    return [Media(f"{CARD_SCHEME}{card}", "text/vcard", f"{name[:100] or 'contact'}.vcf", len(card.encode()))]


def _escaped(text: str) -> str:
    """Escape a value of a card's line (RFC 2426, section 4); a line break in it would begin another line."""
    text = " ".join(text.split())
    return re.sub(r"([\\;,])", r"\\\1", text)


def _file(value: Json, content_type: str) -> Media:
    if not isinstance(value, dict):
        raise RequestRefused("file is not an object")
    file_id = value.get("file_id")
    if not isinstance(file_id, str) or not file_id:
        raise RequestRefused("file has no file_id")
    mime_type, name, size = value.get("mime_type"), value.get("file_name"), value.get("file_size")
    return Media(
        url=f"{FILE_SCHEME}{file_id}",
        content_type=mime_type if isinstance(mime_type, str) and mime_type else content_type,
        name=name if isinstance(name, str) else "",
        size=size if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**53 else None,
    )
