"""The arguments of an act, read by type; each function raises BadAction in a sentence."""

from workbench.simulator.base import BadAction
from workbench.simulator.journal import Json


def text(wishes: dict[str, Json], name: str, *, required: bool = True) -> str:
    """Return a string, or an empty string if it may be missing."""
    value = wishes.get(name, "")
    if not isinstance(value, str) or (required and not value):
        raise BadAction(f'"{name}" must be a string{" that is not empty" if required else ""}.')
    return value


def number(wishes: dict[str, Json], name: str, default: int | None = None) -> int:
    """Return a whole number, or the default if it is missing."""
    value = wishes.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadAction(f'"{name}" must be a whole number.')
    return value


def flag(wishes: dict[str, Json], name: str) -> bool:
    """Return true or false; missing is false."""
    value = wishes.get(name, False)
    if not isinstance(value, bool):
        raise BadAction(f'"{name}" must be true or false.')
    return value
