"""The guarded HTTP client that tools are handed."""

from urllib.parse import urlsplit

from core.errors import ConfigError
from core.http.client import GuardedClient
from onevalet.settings import Settings


def build_http(settings: Settings) -> GuardedClient:
    """Create a client that reaches the public internet, and the hosts that the operator named."""
    try:
        named = (settings.onevalet_weather_url, settings.onevalet_flights_url, settings.onevalet_search_url)
        return GuardedClient(
            allowed_hosts=[*settings.onevalet_fetch_hosts, *(urlsplit(url).netloc for url in named if url)]
        )
    except ValueError as error:
        raise ConfigError(f"ONEVALET_FETCH_HOSTS cannot be used: {str(error).rstrip('.')}.") from error
