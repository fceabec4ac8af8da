"""`.env`, read and changed: other lines stay as they are, and the file is replaced as a whole or not at all."""

import io
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from dotenv.parser import parse_stream

from core.errors import ConfigError

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./~*-]*")
"""Characters that every reader of such files (ours, Docker Compose, systemd) takes literally."""


def read_values(path: Path) -> dict[str, str]:
    """Return the values in a file; empty if it does not exist. Raises `ConfigError` if it cannot be read."""
    bindings = parse_stream(io.StringIO(_read(path)))
    return {binding.key: binding.value for binding in bindings if binding.key and binding.value}


def save_values(path: Path, changes: Mapping[str, str]) -> None:
    """Set values in a file that only its owner may read (0600). An empty value empties its line, if there is any.

    Raises `ConfigError` if a value does not fit in a line or the file cannot be written.
    """
    for name, value in changes.items():
        if not value.isprintable():
            raise ConfigError(f"{name} cannot be saved: it has a line break, or a character that cannot be printed.")
    text = "".join(_changed(_read(path), changes))
    # Replace the target of a link, not the link.
    place = path.resolve()
    try:
        descriptor, temporary = tempfile.mkstemp(dir=place.parent, prefix=f"{place.name}.")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(place)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def _changed(text: str, changes: Mapping[str, str]) -> Iterator[str]:
    """Yield the changed file's lines: each changed setting once, at its first line; new settings at the end."""
    left, last = dict(changes), ""
    for binding in parse_stream(io.StringIO(text, newline="")):
        original = binding.original.string
        if binding.key in left:
            original = _replaced(original, left.pop(binding.key))
        elif binding.key in changes:
            continue
        yield (last := original)
    added = [f"{name}={_quoted(value)}\n" for name, value in left.items() if value]
    if added and last and not last.endswith("\n"):
        yield "\n"
    yield from added


def _replaced(line: str, value: str) -> str:
    """Return a line with another value; text before the name and the comment after the value stay."""
    found = re.match(r"(\s*(?:export\s+)?[^\s=]+)\s*(?:=[^\S\n]*(.*))?", line, re.DOTALL)
    head, rest = (found[1], found[2] or "") if found else (line, "")
    comment = re.search(r"['\"]([^\S\n]+#[^\n]*)$" if rest[:1] in ("'", '"') else r"((?:^|\s+)#[^\n]*)$", rest.rstrip())
    end = "\r\n" if line.endswith("\r\n") else "\n"
    return f"{head}={_quoted(value)}{comment[1] if comment else ''}{end}"


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    return "'{}'".format(value.replace("\\", "\\\\").replace("'", "\\'"))


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(
            f"{path} cannot be read ({cause}): correct that, or name another file with --file."
        ) from error


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"{path} cannot be written ({error.strerror}): correct that, or name another file with --file.")
