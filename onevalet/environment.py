"""Variables of the environment that are read before the settings, and those that libraries read themselves."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_PLUGINS = "ONEVALET_PLUGINS"


def named_plugins() -> tuple[str, ...]:
    """Return the packages in the operator's ONEVALET_PLUGINS; empty if it is unset.

    The abilities among them extend the settings, so they must be known first.
    """
    value = _value(os.environ)
    if not value and Path(".env").is_file():
        from dotenv import dotenv_values

        value = _value(dotenv_values(".env"))
    return tuple(name for part in value.split(",") if (name := part.strip()))


def _value(values: Mapping[str, str | None]) -> str:
    return next((value for name, value in values.items() if value and name.upper() == _PLUGINS), "")


@contextmanager
def exported(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the block, and restore their previous values."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
