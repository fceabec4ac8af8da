"""The settings of searches of the web."""

from typing import Literal

from pydantic import SecretStr
from pydantic_settings import BaseSettings

from core.errors import ConfigError
from onevalet.ability import OwnSettings
from onevalet.file_settings import Origin


class WebSettings(BaseSettings):
    """The search service, its address, and its key."""

    onevalet_search: Literal["", "searxng", "brave", "tavily"] = ""
    onevalet_search_key: SecretStr | None = None
    onevalet_search_url: Origin = ""


def _check(settings: WebSettings) -> None:
    """Raise an error for an incomplete search service, or for its settings without the service."""
    service, key = settings.onevalet_search, settings.onevalet_search_key
    if not service and (key or settings.onevalet_search_url):
        raise ConfigError("Search is half configured: set ONEVALET_SEARCH to searxng, brave or tavily.")
    if service == "searxng" and not settings.onevalet_search_url:
        raise ConfigError("ONEVALET_SEARCH=searxng needs ONEVALET_SEARCH_URL, the address of your SearXNG.")
    if service in ("brave", "tavily") and not key:
        raise ConfigError(f"ONEVALET_SEARCH={service} needs ONEVALET_SEARCH_KEY, your key there.")


def _for_tools(settings: WebSettings) -> dict[str, str]:
    key = settings.onevalet_search_key
    return {
        "search": settings.onevalet_search,
        "search_key": key.get_secret_value() if key else "",
        "search_url": settings.onevalet_search_url,
    }


WEB = OwnSettings(
    WebSettings, check=_check, for_tools=_for_tools, origins=lambda settings: (settings.onevalet_search_url,)
)
