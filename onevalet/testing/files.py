"""A file that a person of a scenario sends."""

import mimetypes
from dataclasses import dataclass

from onevalet.testing.steps import Step


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file, and the text that goes with it."""

    name: str
    data: bytes
    content_type: str
    text: str = ""

    @property
    def kind(self) -> str:
        """Return what Telegram calls it."""
        major = self.content_type.partition("/")[0]
        return {"image": "photo", "audio": "audio"}.get(major, "document")


def file_in(step: Step) -> SentFile:
    """Return the file of a step."""
    name = str(step.value)
    kind = str(step.options.get("type") or mimetypes.guess_type(name)[0] or "application/octet-stream")
    return SentFile(name, step.data, kind, str(step.options.get("text", "")))
