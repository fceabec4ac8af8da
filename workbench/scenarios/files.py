"""A file that a person of a scenario sends."""

import mimetypes
from dataclasses import dataclass

from workbench.scenarios.steps import Step

_PHOTOS = ("image/jpeg", "image/png", "image/webp")
"""Content types that Telegram's apps send as pictures; any other image goes as a file."""


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file, and the text that goes with it. `voice`: the seconds that the app recorded it, 0 for any other file."""

    name: str
    data: bytes
    content_type: str
    text: str = ""
    voice: int = 0

    @property
    def kind(self) -> str:
        """Return Telegram's name for its kind."""
        if self.voice:
            return "voice"
        if self.content_type in _PHOTOS:
            return "photo"
        return "audio" if self.content_type.startswith("audio/") else "document"


def file_in(step: Step) -> SentFile:
    """Return the file of a step."""
    name = str(step.value)
    kind = str(step.options.get("type") or mimetypes.guess_type(name)[0] or "application/octet-stream")
    voice = max(round(step.options["voice"]), 1) if "voice" in step.options else 0
    return SentFile(name, step.data, kind, str(step.options.get("text", "")), voice)
