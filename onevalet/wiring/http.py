"""The guarded HTTP client that tools are handed."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from core.errors import ConfigError
from core.http.guarded_client import GuardedClient
from onevalet.settings import Settings


def build_http(settings: Settings, hosts: Iterable[str] = ()) -> GuardedClient:
    """Create a client that reaches the public internet, `hosts`, and those that the operator named for tools."""
    return guarded_client(settings, (*(urlsplit(origin).netloc for origin in settings.tool_origins), *hosts))


def guarded_client(settings: Settings, hosts: Iterable[str]) -> GuardedClient:
    """Create a client that reaches the public internet, `hosts`, and those of ONEVALET_FETCH_HOSTS."""
    try:
        return GuardedClient(allowed_hosts=[*settings.onevalet_fetch_hosts, *hosts])
    except ValueError as error:
        raise ConfigError(f"ONEVALET_FETCH_HOSTS cannot be used: {str(error).rstrip('.')}.") from error
