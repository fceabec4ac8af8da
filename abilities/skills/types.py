"""The values of skills: their names, purposes, and texts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.json_types import JsonObject, canonical_hash

COLLECTION = "skills"
"""The collection of a person's own skills: `tools` writes them."""
MAIN = "SKILL.md"
MAX_SHOWN = 200
"""Characters of a description in the list that every prompt has."""
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill. `files` are further texts by their paths, which are read when they are wanted; nothing is run."""

    name: str
    description: str
    text: str
    files: Mapping[str, str]

    @property
    def hash(self) -> str:
        """Return its identity, which covers all its texts."""
        return canonical_hash(self.to_json())

    def to_json(self) -> JsonObject:
        """Return it as it is stored."""
        return {"name": self.name, "description": self.description, "text": self.text, "files": {**self.files}}

    @classmethod
    def from_json(cls, data: JsonObject) -> "Skill":
        files = data.get("files")
        return cls(
            str(data.get("name", "")),
            str(data.get("description", "")),
            str(data.get("text", "")),
            {path: str(text) for path, text in files.items()} if isinstance(files, dict) else {},
        )


def is_name(text: str) -> bool:
    """Return whether a skill may be called so: small letters, digits and single hyphens, up to 64."""
    return len(text) <= 64 and _NAME.fullmatch(text) is not None


def own_skill(name: str, value: object) -> Skill | None:
    """Return the stored skill of a person, in its newest version; None if the value is not a skill."""
    versions = value.get("versions") if isinstance(value, dict) else None
    if not isinstance(versions, list) or not versions or not isinstance(versions[-1], dict):
        return None
    newest = versions[-1]
    return Skill(name, str(newest.get("description", "")), str(newest.get("text", "")), {})
