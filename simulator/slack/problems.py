"""Collect what is wrong with a payload, in Slack's words, each with a JSON pointer."""

from collections.abc import Collection

from simulator.journal import Json
from simulator.slack.shapes import Obj


class Problems:
    """The list that the checks of Block Kit fill."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, what: str, at: str) -> None:
        """Note one problem at a JSON pointer."""
        self.found.append(f"{what} [json-pointer:{at}]")

    def string(self, owner: Obj, key: str, at: str, most: int, *, least: int = 0, needed: bool = False) -> None:
        """Check a string field: there if needed, and of a permitted length in characters."""
        if key not in owner:
            if needed:
                self.add(f"missing required field: {key}", at)
            return
        value = owner[key]
        if not isinstance(value, str):
            self.add("must provide a string", f"{at}/{key}")
        elif len(value) > most:
            self.add(f"must be less than {most + 1} characters", f"{at}/{key}")
        elif len(value) < least:
            self.add(f"must be more than {least - 1} characters", f"{at}/{key}")

    def boolean(self, owner: Obj, key: str, at: str) -> None:
        """Check an optional boolean field."""
        if key in owner and not isinstance(owner[key], bool):
            self.add("must be a boolean", f"{at}/{key}")

    def among(self, value: Json, allowed: Collection[str], at: str) -> bool:
        """Check that a string is one of those allowed."""
        if isinstance(value, str) and value in allowed:
            return True
        self.add("must be a valid enum value", at)
        return False

    def only(self, owner: Obj, allowed: Collection[str], at: str) -> None:
        """Refuse fields that Slack's schema does not have."""
        for key in owner:
            if key not in allowed:
                self.add(f"invalid additional property: {key}", at)

    def listed(self, owner: Obj, key: str, at: str, most: int, *, least: int = 1) -> list[Json]:
        """Check a needed list and its length; give its items, or none when it is wrong."""
        value = owner.get(key)
        if value is None:
            self.add(f"missing required field: {key}", at)
            return []
        if not isinstance(value, list):
            self.add("must be an array", f"{at}/{key}")
            return []
        if len(value) > most:
            self.add(f"no more than {most} items allowed", f"{at}/{key}")
        if len(value) < least:
            self.add(f"no fewer than {least} items allowed", f"{at}/{key}")
        return value
