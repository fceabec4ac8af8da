"""The parts of a tool's result that are used: words, and a few files."""

import base64
import binascii
import re

from abilities.mcp.letters import readable
from abilities.mcp.types import Picture, ServerReply

MAX_TEXT = 200_000
_MOST_PICTURES = 20
_MOST_PICTURE = 5 * 1024 * 1024
_USUAL = str.maketrans("-_", "+/")
_CONTENT_TYPE = re.compile(r"[a-z]{1,20}/[a-z0-9][a-z0-9.+-]{0,80}")


class Parts:
    """The parts of a result."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._pictures: list[Picture] = []

    def take_blob(self, data: str, content_type: str | None) -> None:
        """Take content other than text."""
        if len(self._pictures) >= _MOST_PICTURES:
            self.texts.append("[One file too many.]")
            return
        try:
            decoded = base64.b64decode(_plain(data), validate=True)
        except (binascii.Error, ValueError):
            self.texts.append("[Something that cannot be read.]")
            return
        if len(decoded) > _MOST_PICTURE:
            self.texts.append("[A file that is too large.]")
            return
        named = (content_type or "").lower()
        self._pictures.append(Picture(named if _CONTENT_TYPE.fullmatch(named) else "application/octet-stream", decoded))

    def answer(self, *, failed: bool = False) -> ServerReply:
        """Return the parts as a reply of the server."""
        return ServerReply(readable("\n".join(self.texts)[:MAX_TEXT]), tuple(self._pictures), failed)


def _plain(data: str) -> str:
    """Return data in base64 without the ends of lines, in the usual alphabet and filled up."""
    whole = "".join(data.split()).translate(_USUAL).rstrip("=")
    return whole + "=" * (-len(whole) % 4)
