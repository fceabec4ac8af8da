"""The words that pages give people to type are those that the assistant reads."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.messaging.chat_reader import chat_words

DOCS = Path(__file__).parents[2] / "docs"
GENERATED = {"words.md", "api.md"}
VALUES = {
    "HOUSEHOLD JOIN": "HOUSEHOLD JOIN ABC-DEF-GHJ",
    "LINK CODE AGREE": "LINK ABC-DEF-GHJ AGREE",
    "PREFS …": "PREFS quiet 22:00-07:00",
}
"""What a page shows without a person's own value, with one."""
ROWS = {
    ("people.md", "Households"): {
        "HOUSEHOLD CREATE Rose Cottage": "household",
        "HOUSEHOLD INVITE": "household",
        "HOUSEHOLD JOIN": "household",
    },
    ("triggers.md", "Quiet thinking"): {"AWAKE 3": "awake", "AWAKE 3 off": "awake"},
    ("memory.md", "Follow-ups"): {
        "FOLLOWUPS YES 3": "followups",
        "FOLLOWUPS NO 3": "followups",
        "FOLLOWUPS OFF": "followups",
        "FOLLOWUPS ON": "followups",
        "FOLLOWUPS": "followups",
        "undo": "undo",
    },
    ("channels/sms.md", "Limits of cost"): {
        "SEND": "send",
        "SHORT": "short",
        "READ": "read",
        "CHAT": "chat",
        "ask above 4": "askabove",
    },
    ("approvals.md", "Receipts"): {"receipts": "receipts", "receipts 7 days": "receipts"},
    ("access.md", "Halt all"): {"HALT ALL": "halt_all", "LIFT 123456": "lift"},
}
"""The words of each thing that a person can turn on, choose or stop, by its section."""
SCREEN = 40
"""Lines that a reader sees at once."""


def typed() -> Iterator[tuple[str, str]]:
    """Yield what pages show in capitals and as code, and that begins as a chat word does."""
    words = {word.upper() for command in chat_words().commands for word in command}
    for page in sorted(DOCS.rglob("*.md")):
        if page.name in GENERATED:
            continue
        for span in re.findall(r"`([A-Z]{3,}[^`\n]*)`", page.read_text(encoding="utf-8")):
            if any(span == word or span.startswith(f"{word} ") for word in words):
                yield page.relative_to(DOCS).as_posix(), span


def section(page: str, title: str) -> str:
    """Return the text of a section."""
    text = (DOCS / page).read_text(encoding="utf-8")
    match = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,3}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, f"{page} has no section {title!r}"
    return match[2]


def test_every_word_that_a_page_shows_is_read() -> None:
    shown = set(typed())
    assert len(shown) > 25
    unread = {(page, span) for page, span in shown if chat_words().read(VALUES.get(span, span), "sms") is None}
    assert unread == set()


@pytest.mark.parametrize(("page", "title"), ROWS, ids=lambda value: value)
def test_a_section_has_the_words_to_type_on_one_screen(page: str, title: str) -> None:
    text = section(page, title)
    assert len(text.splitlines()) <= SCREEN
    for word, name in ROWS[page, title].items():
        assert re.search(rf"(?:`|^- ){re.escape(word)}(?:`|:)", text, re.MULTILINE), word
        command = chat_words().read(VALUES.get(word, word), "sms")
        assert command is not None, word
        assert command.name == name


@pytest.mark.parametrize(
    ("page", "title", "said"),
    [
        ("approvals.md", "If somebody else must agree", "if Ben agrees too"),
        ("people.md", "Households", "remind Ben"),
        ("people.md", "Households", "a note for us"),
        ("events.md", "Telling other systems", "bin/onevalet webhooks add URL"),
        ("approvals.md", "Receipts", "bin/onevalet receipts verify FILE"),
    ],
)
def test_a_section_says_what_to_say_or_to_run(page: str, title: str, said: str) -> None:
    text = section(page, title)
    assert said.casefold() in " ".join(text.split()).casefold()
    assert len(text.splitlines()) <= SCREEN
