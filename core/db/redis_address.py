"""A Redis address that names Sentinels: redis+sentinel://:secret@one:26379,two:26379/primary/0."""

from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

_PORT = 26_379


@dataclass(frozen=True, slots=True)
class Sentinels:
    """The parts of such an address."""

    hosts: tuple[tuple[str, int], ...]
    name: str
    database: int
    username: str | None
    password: str | None
    own_password: str | None
    """The Sentinels' own password."""
    tls: bool


def is_sentinels(url: str) -> bool:
    """Return whether an address names Sentinels."""
    return url.partition("://")[0].endswith("+sentinel")


def read_sentinels(url: str) -> Sentinels:
    """Parse an address; raise `ValueError` if it names no Sentinels or no primary."""
    parts = urlsplit(url)
    login, _, places = parts.netloc.rpartition("@")
    username, _, password = login.partition(":")
    name, _, database = parts.path.strip("/").partition("/")
    hosts = tuple(_host(place) for place in places.split(","))
    if not name or parts.scheme not in ("redis+sentinel", "rediss+sentinel"):
        raise ValueError("names no primary")
    return Sentinels(
        hosts,
        unquote(name),
        int(database or 0),
        unquote(username) or None,
        unquote(password) or None,
        parse_qs(parts.query).get("sentinel_password", [None])[0],
        parts.scheme.startswith("rediss"),
    )


def _host(place: str) -> tuple[str, int]:
    parts = urlsplit(f"//{place}")
    if not parts.hostname:
        raise ValueError(f"{place!r} is no host")
    return parts.hostname, parts.port or _PORT
