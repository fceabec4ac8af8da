"""An operator's TOML file about tools, which a setting names."""

import tomllib
from pathlib import Path
from typing import Any

from core.errors import ConfigError


def read_toml(path: Path, setting: str) -> dict[str, Any]:
    """Return the values of a file. Raises `ConfigError`: a sentence for its author."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{setting} names {path}, which cannot be read.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no TOML: {error}.") from error
