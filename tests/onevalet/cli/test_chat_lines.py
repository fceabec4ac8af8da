"""The lines of `chat`: each is said, and some end the talk."""

import os

import pytest

from onevalet.cli.chat import QUIT, read_lines


@pytest.mark.parametrize("end", ["", *sorted(f"{word}\n" for word in QUIT), " /QUIT \n"])
async def test_lines_are_said_until_the_end_or_a_word_that_ends_the_talk(end: str) -> None:
    said: list[str] = []

    async def say(text: str) -> None:
        said.append(text)

    read, write = os.pipe()
    os.write(write, f"hello\n\n  how are you? \n{end}".encode())
    if end:
        os.write(write, b"nobody hears this\n")
    else:
        os.close(write)
    await read_lines(say, os.fdopen(read, "rb"))
    assert said == ["hello", "how are you?"]
    if end:
        os.close(write)
