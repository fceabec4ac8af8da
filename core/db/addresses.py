"""The database's address: it may name several hosts, a single primary among them at a time."""

from urllib.parse import parse_qs, urlsplit

_PORT = 5432
_SERVING = ("any", "primary", "read-write")

type Host = tuple[str, int]


def hosts_of(url: str) -> tuple[Host, ...]:
    """Return the hosts and ports that a URL names, in its order; raise `ValueError` if it is no address."""
    places = urlsplit(url).netloc.rpartition("@")[2].split(",")
    if places == [""]:
        return ()
    return tuple(_host(place) for place in places)


def for_primary(url: str) -> str:
    """Return a URL that leads to the primary: with several hosts it gets `target_session_attrs`, unless it has it.

    Raises `ValueError` if it is no address, or asks for a server that takes no writes.
    """
    parts = urlsplit(url)
    several = len(hosts_of(url)) > 1
    wanted = parse_qs(parts.query).get("target_session_attrs", [])
    if any(attribute not in _SERVING for attribute in wanted):
        raise ValueError("target_session_attrs leads to a server that takes no writes")
    if not several or wanted:
        return url
    query = f"{parts.query}&target_session_attrs=primary" if parts.query else "target_session_attrs=primary"
    return parts._replace(query=query).geturl()


def _host(place: str) -> Host:
    parts = urlsplit(f"//{place}")
    if not parts.hostname or parts.port == 0 or parts.username is not None:
        raise ValueError(f"{place!r} is no host")
    return parts.hostname, parts.port or _PORT
