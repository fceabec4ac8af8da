"""The way out to the web as tools see it: what is asked, what is answered, and what there is where it is barred."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from core.json_types import Json


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What a server answered. `body` is cut at the client's limit, and `cut` tells so.

    `headers` know no case; `url` is where the last redirect led.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str = ""
    cut: bool = False

    @property
    def content_type(self) -> str:
        """Return the media type alone, lower case, such as `text/html`; empty when the server told none."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()


class HttpClient(Protocol):
    """The way out to the web that tools use."""

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, json: Json = None
    ) -> HttpResponse:
        """Make one request. Raises `core.errors.ToolFailed` where no answer came or the address is barred."""
        ...


@runtime_checkable
class AddressCheck(Protocol):
    """A way out to the web that can tell where it may not lead, without a request."""

    async def check(self, url: str) -> None:
        """Refuse an address that is barred now. Raises `core.errors.ToolFailed`."""
        ...
