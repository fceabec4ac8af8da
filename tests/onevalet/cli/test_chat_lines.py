"""The lines of `chat`: each is said, and some end the talk."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from onevalet.cli.chat import QUIT, read_lines

ENDS = ["", *sorted(f"{word}\n" for word in QUIT), " /QUIT \n"]


def written(end: str) -> bytes:
    """Return lines with what ends them, and after that a line that is too late."""
    return f"hello\n\n  how are you? \n{end}{'nobody hears this' if end else ''}\n".encode()


@pytest.mark.parametrize("end", ENDS)
async def test_lines_are_said_until_the_end_or_a_word_that_ends_the_talk(end: str) -> None:
    said: list[str] = []
    read, write = os.pipe()
    os.write(write, written(end))
    if not end:
        os.close(write)
    await read_lines(keep_in(said), os.fdopen(read, "rb"))
    assert said == ["hello", "how are you?"]
    if end:
        os.close(write)


@pytest.mark.parametrize("end", ENDS)
async def test_lines_of_a_file_are_said_as_those_of_a_pipe(end: str, tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "lines.txt"
    path.write_bytes(written(end))
    with path.open(encoding="utf-8") as file:
        await read_lines(keep_in(said), file)
    assert said == ["hello", "how are you?"]


async def test_the_last_line_of_a_file_may_lack_its_end(tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "lines.txt"
    path.write_bytes(b"hello\nhow are you?")
    with path.open(encoding="utf-8") as file:
        await read_lines(keep_in(said), file)
    assert said == ["hello", "how are you?"]


async def test_of_nothing_to_read_the_talk_ends() -> None:
    said: list[str] = []
    with os.fdopen(os.open(os.devnull, os.O_RDONLY)) as file:
        await read_lines(keep_in(said), file)
    assert said == []


def keep_in(said: list[str]) -> Callable[[str], Awaitable[None]]:
    """Return what keeps each line."""

    async def say(text: str) -> None:
        said.append(text)

    return say
