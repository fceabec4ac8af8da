"""Files on their way out, as channels get them."""

from dataclasses import asdict, dataclass, fields
from datetime import timedelta

from core.json_types import JsonObject

FILE_LEASE = timedelta(seconds=60)
"""The lease on a row of the outbox while its file is uploaded."""


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A person's file that is sent to them. Its content is read by `id` while it is sent.

    `address`: a link to the file that expires; None without a public address. `instead`: the text if the channel
    refuses the file; `gone`: the text if it was deleted in the meantime.
    """

    id: str
    name: str
    content_type: str
    size: int
    address: str | None = None
    instead: str = ""
    gone: str = ""

    def to_json(self) -> JsonObject:
        """Return the form that is stored with a part."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonObject) -> "OutgoingFile":
        """Parse the result of `to_json`, without fields that a newer release added."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})  # type: ignore[arg-type]
