"""What the pages tell to type works for whoever types it, in a fresh clone, and works again."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from onevalet.settings import Settings, load_settings
from tests.documents.blocks import EXAMPLES, PAGES, Block, blocks_of
from tests.documents.elsewhere import ELSEWHERE, Elsewhere
from tests.shipping.harness import ROOT

BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def what_it_asks(block: Block) -> tuple[str, ...]:
    """Return what a block asks of its reader: its commands, the file it is, or the whole of it."""
    return block.commands or (block.file or block.text,)


def entries(block: Block, text: str) -> list[Elsewhere]:
    return [entry for entry in ELSEWHERE if entry.is_about(block, text)]


def typed_here(page: str) -> list[str]:
    """Return the commands of a page that can be typed in a clone."""
    return [command for block in blocks_of(page) for command in block.commands if not entries(block, command)]


def run_on_its_page(block: Block) -> bool:
    """Tell whether a file is a test that a command of its page runs, or what such a test imports."""
    typed = " ".join(typed_here(block.page))
    if block.file in typed:
        return True
    module = block.file.removesuffix(".py").replace("/", ".")
    imported = re.compile(rf"^from {re.escape(module)} import|^from {re.escape(module.rpartition('.')[0])} import "
                          rf".*\b{module.rpartition('.')[2]}\b", re.MULTILINE)  # fmt: skip
    return any(other.file in typed and imported.search(other.code) for other in blocks_of(block.page) if other.file)


def unaccounted() -> Iterator[str]:
    for block in BLOCKS:
        for text in what_it_asks(block):
            found = entries(block, text)
            is_held = block.are_settings or (block.commands if not block.file else run_on_its_page(block))
            if len(found) > 1 or not (found or is_held or (block.file and not block.file.endswith(".py"))):
                yield f"{block}: {text.splitlines()[0]}"


def test_each_block_is_run_or_named_with_the_reason() -> None:
    assert list(unaccounted()) == []


@pytest.mark.parametrize("entry", ELSEWHERE, ids=lambda entry: f"{entry.page}-{entry.begins[:30]}")
def test_what_is_not_run_here_is_on_its_page_and_its_test_is_there(entry: Elsewhere) -> None:
    asked = [text for block in blocks_of(entry.page) for text in what_it_asks(block) if entry.is_about(block, text)]
    assert asked, "the page says no such thing"
    assert entry.why
    assert not entry.test or (ROOT / entry.test).exists()


def test_no_two_pages_write_one_file() -> None:
    pages = defaultdict(set)
    for block in BLOCKS:
        if block.file:
            pages[block.file].add(block.page)
    assert {file: sorted(names) for file, names in pages.items() if len(names) > 1} == {}


def test_each_example_is_a_file_of_the_page_that_leads_to_it() -> None:
    kept = {path.relative_to(EXAMPLES).as_posix(): path.read_text() for path in EXAMPLES.rglob("*.py")}
    assert kept
    assert {block.file: block.code for block in BLOCKS if block.file in kept} == kept


SETTINGS = [block for block in BLOCKS if block.are_settings]
FILLED_IN = {"TWILIO_ACCOUNT_SID": "0" * 32, "TELEGRAM_BOT_TOKEN": "A" * 33}
"""What a reader writes where the page has dots, if a word will not do."""


def filled_in(found: re.Match[str]) -> str:
    return found[1] + found[2] + FILLED_IN.get(found[1], "word")


@pytest.mark.parametrize("block", SETTINGS, ids=str)
def test_the_settings_of_a_page_are_taken(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower() in Settings.model_fields]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiers.toml").write_text("[guest]\nmessages_a_minute = 5\n")
    (tmp_path / ".env").write_text(re.sub(r"(?m)^(\w+)(=.*)…", filled_in, block.text))
    names = re.findall(r"^([A-Z0-9_]+)=", block.text, re.MULTILINE)
    known = {name.upper() for name in Settings.model_fields}
    theirs = ("OPENAI_API_BASE",)  # read by the model's library
    loose = tuple(f"ONEVALET_{name}_" for name in ("LOOP", "OIDC"))
    assert [name for name in names if name not in known and name not in theirs and not name.startswith(loose)] == []
    load_settings()
