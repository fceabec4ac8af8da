"""Read skills from folders in the open format: `SKILL.md`, which begins with name and description, and other files."""

import os
from collections.abc import Sequence
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from abilities.skills.types import MAIN, Skill, is_name
from core.errors import ConfigError
from core.json_types import storable

MAX_TEXT = 50_000
_MAX_FILES = 50
_MAX_DESCRIPTION = 1024


def read_folder(path: Path) -> Sequence[Skill]:
    """Return the skills of a folder, each in a folder of its own. Raises `ConfigError`, which names the place."""
    try:
        below = sorted(entry.path for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False))
    except OSError as error:
        raise ConfigError(f"ONEVALET_SKILLS names {path}, which cannot be read.") from error
    return [read_skill(Path(folder)) for folder in below if (Path(folder) / MAIN).exists()]


def read_skill(folder: Path) -> Skill:
    """Return a skill. Raises `ConfigError`."""
    files = _texts(folder)
    if MAIN not in files:
        raise ConfigError(f"{folder / MAIN} is no text.")
    head, text = _parted(folder / MAIN, files.pop(MAIN))
    name, description = str(head.get("name") or ""), " ".join(str(head.get("description") or "").split())
    if not is_name(name) or name != folder.name:
        raise ConfigError(f"{folder / MAIN}: its name must be that of the folder: small letters, digits and hyphens.")
    if not 0 < len(description) <= _MAX_DESCRIPTION:
        raise ConfigError(f"{folder / MAIN} needs a description of up to {_MAX_DESCRIPTION} characters.")
    return Skill(name, description, text, files)


def _texts(folder: Path) -> dict[str, str]:
    """Return all texts of a folder by their paths, without other files and the targets of links."""
    found: dict[str, str] = {}
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not (Path(where) / name).is_symlink())
        for name in sorted(names):
            path = Path(where) / name
            if path.is_symlink() or not path.is_file():
                continue
            if len(found) >= _MAX_FILES or path.stat().st_size > MAX_TEXT:
                raise ConfigError(f"{path}: a skill has at most {_MAX_FILES} files of {MAX_TEXT} bytes.")
            try:
                found[path.relative_to(folder).as_posix()] = storable(path.read_text(encoding="utf-8"))
            except UnicodeDecodeError:
                continue
    return found


def _parted(path: Path, text: str) -> tuple[dict[str, object], str]:
    """Return the text between the first two lines of dashes, and the text after them."""
    opening, _, rest = text.partition("\n")
    head, dashes, body = rest.partition("\n---")
    if opening.strip() != "---" or not dashes:
        raise ConfigError(f"{path} must begin with --- and name and description, and --- again.")
    try:
        read = yaml.safe_load(head)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: what stands between the dashes is no YAML.") from error
    return (read if isinstance(read, dict) else {}), body.partition("\n")[2].strip()
