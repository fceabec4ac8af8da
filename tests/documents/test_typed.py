"""What the pages tell to type works for whoever types it, in a fresh clone, and works again.

What leaves nothing behind is typed once: a second run could meet no more than the first did. The tests of a page are
typed in one command, as each takes seconds to start.
"""

import base64
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.documents.blocks import PAGES, write_files
from tests.documents.reader import make_reader
from tests.documents.test_blocks import typed_here
from tests.onevalet.cli.harness import add_people

TYPED = [page for page in PAGES if typed_here(page)]


@dataclass(frozen=True, slots=True)
class Given:
    """What a reader of a page has already: files, settings, and their own words for the page's."""

    files: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    afterwards: tuple[str, ...] = ()
    """What they take back, before they do it all once more."""


RUNS_TESTS = "bin/test -p onevalet.testing.plugin "
LEAVES_NOTHING = (RUNS_TESTS, "bin/onevalet simulate ")
"""Commands with a home and servers of their own, which are deleted."""
CACHES = {"__pycache__", ".pytest_cache"}

TWILIO = {
    "TWILIO_ACCOUNT_SID": f"AC{'0' * 32}",
    "TWILIO_AUTH_TOKEN": "word",
    "TWILIO_FROM": "+15551230000",
    "PUBLIC_URL": "https://valet.example.com",
}
GIVEN = {
    "docs/access.md": Given(settings=TWILIO),
    "docs/credentials.md": Given(files={"token.json": '{"token": "t"}'}),
    "docs/events.md": Given(afterwards=("bin/onevalet events source delete doorbell",)),
    "docs/email.md": Given(words={"TENANT": "tn_1"}),
    "docs/skills.md": Given(
        files={"skills/weekly-report/tone.md": "Friendly."}, settings={"ONEVALET_SKILLS": "skills"}
    ),
}


def operator(database_url: str, redis_url: str) -> dict[str, str]:
    """Return the settings of an installation that serves one person."""
    key = base64.b64encode(os.urandom(32)).decode()
    return {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "ONEVALET_SECRET_KEYS": key}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", TYPED)
async def test_what_a_page_tells_to_type_works_in_a_fresh_clone_twice(
    page: str, tmp_path: Path, database_url: str, redis_url: str
) -> None:
    given = GIVEN.get(page, Given())
    await add_people(database_url, "tn_1")
    reader = make_reader(tmp_path, {**operator(database_url, redis_url), **given.settings})
    write_files(page, reader.folder)
    for name, text in given.files.items():
        (reader.folder / name).write_text(text)
    commands = [*with_tests_at_once(typed_here(page)), *given.afterwards]
    again = [command for command in commands if not command.startswith(LEAVES_NOTHING)]
    for command in (*commands, *again):
        before = files_in(reader.folder)
        await reader.type(re.sub(r"\b[A-Z]+\b", lambda word: given.words.get(word[0], word[0]), command))
        assert not command.startswith(LEAVES_NOTHING) or files_in(reader.folder) == before, "it leaves nothing behind"


def with_tests_at_once(commands: Sequence[str]) -> list[str]:
    """Return the commands, with a single one for all tests."""
    tests = [command.removeprefix(RUNS_TESTS) for command in commands if command.startswith(RUNS_TESTS)]
    others = [command for command in commands if not command.startswith(RUNS_TESTS)]
    return [*others, RUNS_TESTS + " ".join(tests)] if tests else others


def files_in(clone: Path) -> set[Path]:
    """Return what a clone holds besides links to the project's folders and caches."""
    return {path for path in clone.rglob("*") if not CACHES & {*path.relative_to(clone).parts}}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tool", "agent", "channel"])
async def test_what_new_says_to_run_passes(kind: str, tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {})
    printed = await reader.type(f"bin/onevalet new {kind} water-plants --package house")
    await reader.type(printed.rpartition("and run: ")[2])
