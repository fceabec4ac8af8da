"""Files on their way out: what a channel is given of one."""

from dataclasses import asdict, dataclass, fields
from datetime import timedelta

from core.json_types import JsonObject

FILE_LEASE = timedelta(seconds=60)
"""How long a row of the outbox is kept while a file of it is uploaded."""


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A person's file as it is sent to them. Its content is read while it is sent, by `id`.

    `address` is a link to it that expires, None without a public address. `instead` is said where the channel refuses
    it, `gone` where it was deleted meanwhile.
    """

    id: str
    name: str
    content_type: str
    size: int
    address: str | None = None
    instead: str = ""
    gone: str = ""

    def to_json(self) -> JsonObject:
        """Return the form that a part keeps."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonObject) -> "OutgoingFile":
        """Read what `to_json` wrote; fields that a newer release adds are left out."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})  # type: ignore[arg-type]
