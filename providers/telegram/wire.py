"""The conventions of both directions with Telegram: addresses, file references, limits; pure."""

import re

REAL_API_URL = "https://api.telegram.org"
FILE_SCHEME = "tg:"
"""The scheme of a file_id in place of a file's URL; a download asks Telegram for the address, which holds the token."""
CARD_SCHEME = "tg-card:"
"""Stands before the text of a contact's card, which Telegram hands over in the message itself."""
MAX_UNITS = 4096
"""UTF-16 units of a message's text (core.telegram.org/bots/api#sendmessage)."""
MAX_TOKEN = 64
"""Bytes that a button may carry (core.telegram.org/bots/api#inlinekeyboardbutton)."""

MAX_PHOTO = 10 * 1024 * 1024
MAX_UPLOAD = 50 * 1024 * 1024
"""Bytes of a picture and of any other file that a bot sends (core.telegram.org/bots/api#sending-files)."""

_TOKEN = re.compile(rf"[!-~]{{1,{MAX_TOKEN}}}")


def is_token(data: str) -> bool:
    """Return whether the data of a button can be one of our tokens."""
    return _TOKEN.fullmatch(data) is not None
