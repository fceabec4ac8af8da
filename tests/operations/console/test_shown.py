"""What all pages and all commands show of two lives, word for word: a value that goes astray on its way is found."""

from pathlib import Path

import pytest

from tests.operations.console.harness import Console
from tests.operations.console.lives import two_lives
from tests.operations.console.shown import SHOWN, of_commands, of_pages


async def test_promise_10_pages_and_commands_show_what_is_there(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await two_lives(console)
    pages = await of_pages(console)
    shown = "\n".join([*pages, *await of_commands(console, tmp_path, monkeypatch, capsys)])
    now = tmp_path / "shown.txt"
    now.write_text(shown, encoding="utf-8")
    assert shown == SHOWN.read_text(encoding="utf-8"), f"where all of it is meant: cp {now} {SHOWN}"
