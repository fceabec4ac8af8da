"""The requests: their texts, the messages before, and the right calls."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

NOTHING = "none"
"""Key in `expected` if an answer without any call is right."""

type Expected = dict[str, dict[str, dict[str, Any]]]
"""The conditions of arguments, by tool name: see `matching`."""

_FILE = Path(__file__).with_name("requests.json")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A request in a language. `earlier` are the messages before, the person first; `tasks` are set before.

    Any of `expected` must be called, or all with `wants_all`. `example` is a right answer, as calls.
    """

    id: str
    kind: str
    language: str
    text: str
    earlier: Sequence[str]
    tasks: Sequence[str]
    expected: Expected
    wants_all: bool
    example: Sequence[tuple[str, dict[str, Any]]]

    @property
    def name(self) -> str:
        return f"{self.id}.{self.language}"


@cache
def now() -> datetime:
    """Return the moment in which all requests are made."""
    file = _read()
    return datetime.fromisoformat(file["now"]).replace(tzinfo=ZoneInfo(file["timezone"]))


def scenarios() -> Iterator[Scenario]:
    """Yield all requests, language by language."""
    described = _read()["scenarios"]
    for language in described[0]["said"]:
        for one in described:
            yield _scenario(one, language)


def _scenario(one: dict[str, Any], language: str) -> Scenario:
    said = one["said"][language]
    words = {f"{{{name}}}": word for name, word in said.items() if isinstance(word, str)}
    return Scenario(
        one["id"],
        one["kind"],
        language,
        said["text"],
        said.get("earlier", ()),
        _filled(one.get("tasks", []), words),
        _filled(one["expect"], words),
        one.get("all", False),
        # Of words that are right alike, the first is used.
        [(name, _filled(arguments, _firsts(words))) for name, arguments in one["example"]],
    )


def _firsts(words: dict[str, str]) -> dict[str, str]:
    return {name: word.split("|")[0] for name, word in words.items()}


def _filled(value: Any, words: dict[str, str]) -> Any:
    """Put a language's own words in the place of `{name}`."""
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(name, word)
        return value
    if isinstance(value, list):
        return [_filled(item, words) for item in value]
    if isinstance(value, dict):
        return {name: _filled(item, words) for name, item in value.items()}
    return value


@cache
def _read() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return read
