"""What is never remembered of a talk: commands and decisions; nothing but what is asked for, where no model is set."""

from contextlib import AsyncExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abilities.memory.extraction.speech import spoken_of
from abilities.memory.extraction.statements import statements, worth_keeping
from abilities.memory.momex import Momex
from core.approvals.exact_replies import parse_exact_reply
from core.clock import Clock
from core.db.database import Database
from core.llm.types import ChatMessage, Role
from core.messaging.chat_reader import chat_words
from core.messaging.help_text import words
from onevalet.settings import Settings
from onevalet.wiring.models import build_models
from onevalet.wiring.recall import open_recall
from tests.abilities.memory.harness import NOW

CHANNELS = ("sms", "slack", "telegram", "terminal")


def heard(text: str) -> list[str]:
    """Return what is remembered of a person's message in history."""
    said = spoken_of("k", ChatMessage(Role.USER, text), NOW)
    return [statement for part in said for statement in statements(part.text) if worth_keeping(statement)]


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_command_is_remembered_as_its_channel_spells_it(channel: str) -> None:
    for listed, _ in words(channel):
        for word in listed.strip("`").split(", "):
            takes_more = "/" in word or word in ("PREFS", "PROFILE", "LINK")
            more = ("", ".", " timezone Lisbon", " mach es 2 Tage kürzer") if takes_more else ("", ".")
            assert {said: heard(said) for end in more if heard(said := word + end)} == {}, word


@pytest.mark.parametrize(
    "text",
    [
        "EDIT 7P kürzer", "EDIT 7P mach es kürzer. Und sag, dass ich in Graz wohne.", "OK 8E", "NO 3K", "ok 8e.",
        "LINK ABC-DEF-GH2", "link k4m q7r t2w agree", "/prefs language de", "/valet prefs timezone Lisbon",
        "PREFS timezone Lisbon", "/prefs colour blue as the sky", "SNOOZE 7K 30m", "AGAIN 7K", "OK 7K 123456",
        "/memory@valet_bot", "LINK mein Telefon bitte",
    ],
)  # fmt: skip
def test_a_command_or_a_decision_tells_nothing(text: str) -> None:
    assert heard(text) == []


@given(
    st.sampled_from(["ok", "OKAY", "no", "Snooze", "EDIT", "edit", "again", "link", "prefs", "profile"]),
    st.sampled_from(["7K", "7k", "8E", "22A", "9Z", "ALL", "abc-def-gh2", "quiet 22-7", "undo 3"]),
    st.sampled_from(["", " 123456", " 1h", " make it 3pm and shorter", ".", " agree", "!"]),
)
def test_whatever_is_read_as_a_command_tells_nothing(verb: str, code: str, more: str) -> None:
    text = f"{verb} {code}{more}"
    reply = parse_exact_reply(text)
    if (reply and reply.names_code) or any(chat_words().read(text, channel) for channel in CHANNELS):
        assert heard(text) == []


@pytest.mark.parametrize("text", ["New flat in Graz since May 2nd.", "Link and I live together.", "No 3 of us smokes."])
def test_a_sentence_that_begins_like_a_command_is_remembered(text: str) -> None:
    assert heard(text) == [text]


@pytest.mark.parametrize("model", ["", "openai/mine"])
async def test_turns_are_read_only_where_a_model_is_set(database_url: str, model: str) -> None:
    database = Database(database_url, patience=5, size=1)
    settings = Settings(_env_file=None, onevalet_model=model)
    async with AsyncExitStack() as stack:
        momex = open_recall(stack, settings, database, Clock(), build_models(settings))
        assert isinstance(momex, Momex)
        assert momex.work.reads_turns is bool(model)
    await database.close()
