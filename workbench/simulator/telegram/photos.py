"""Telegram's limits of a photo: https://core.telegram.org/bots/api#sendphoto.

"The photo's width and height must not exceed 10000 in total. Width and height ratio must be at most 20."
"""

import struct

_PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", b"RIFF")
_MAX_SIDES = 10_000
_MAX_RATIO = 20


def photo_problem(data: bytes) -> str:
    """Return why bytes are not a photo, in the server's words; empty if they are. Only PNG's sides are read."""
    if not data.startswith(_PICTURES):
        return "IMAGE_PROCESS_FAILED"
    if not data.startswith(b"\x89PNG") or len(data) < 24:
        return ""
    width, height = struct.unpack(">II", data[16:24])
    if not width or not height or width + height > _MAX_SIDES or max(width, height) > _MAX_RATIO * min(width, height):
        return "PHOTO_INVALID_DIMENSIONS"
    return ""
