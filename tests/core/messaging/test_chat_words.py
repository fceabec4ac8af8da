"""Every chat word, from its one declaration: read on each channel, in HELP, in the menus, on the page, and answered."""

import inspect
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import pytest

from channels.slack import parse as slack
from channels.slack.home import home_view
from channels.slack.manifest import manifest
from channels.slack.messages import AppIdentity
from channels.sms.parse import parse_message
from channels.sms.texts import OPT_IN_WORDS, OPT_OUT_WORDS, Account
from channels.telegram import parse as telegram
from channels.telegram.profile import profile_in
from channels.terminal.parse import parse_line
from core.errors import ConfigError
from core.language import catalogue
from core.language.catalogue import LANGUAGES, LOCALES, speaking
from core.messaging.chat_reader import ROOMS, chat_words
from core.messaging.chat_words import ChatCommand
from core.messaging.help_text import as_shown, words
from core.messaging.messages import Command, InboundMessage
from core.turns.words.asked import Asked, WordOutcome
from jobs.turns.commands import answers_of
from tests.channels.email.letters import letter, stored, understood
from tests.channels.slack import builders as slack_kit
from tests.channels.sms.builders import NUMBER, SID, webhook
from tests.channels.telegram import builders as telegram_kit
from tests.core.messaging.planted_words import TALLY, planted
from tests.shipping.harness import ROOT
from workbench.pages.words import PAGE, page

CHANNELS = ("sms", "email", "slack", "telegram", "terminal")
WITH = {
    "undo": "3",
    "again": "7K",
    "withdraw": "2",
    "prefs": "timezone Lisbon",
    "profile": "undo 3",
    "link": "ABC-2D3-EFG",
    "connect": "google as my job",
    "disconnect": "google",
    "mcp": "token laptop",
    "lift": "123456",
    "askabove": "4",
    "household": "create the Smiths",
    "groups": "allow 1",
    "followups": "yes 3",
    "receipts": "30 days",
    "reminders": "allow Ann",
    "awake": "3",
    "tally": "of cups",
}
"""What may stand behind each word that takes something."""


def _declared() -> tuple[ChatCommand, ...]:
    return (*chat_words().commands, TALLY)


@pytest.fixture(params=_declared(), ids=lambda command: command.name)
def command(request: pytest.FixtureRequest) -> Iterator[ChatCommand]:
    """Yield each word; there is an ability with a planted one for as long."""
    with planted(*([TALLY] if request.param is TALLY else [])):
        yield request.param


def heard(text: str, channel: str) -> Command | None:
    """Return the command that a channel and then the inbox make of what a person types."""
    message: object
    ours = AppIdentity(slack_kit.TEAM, slack_kit.APP)
    match channel:
        case "sms":
            (message,) = parse_message(tuple(webhook(Body=text)), Account(SID, NUMBER, carrier_answers=False))
        case "email":
            with pytest.MonkeyPatch.context() as patch:
                (message,) = understood(stored(letter(text)), patch)
        case "slack" if text.startswith("/valet "):
            slash = slack.parse(slack_kit.command(text=text.removeprefix("/valet ")), ours)
            assert isinstance(slash, slack.SlashCommand)
            message = slash.message
        case "slack":
            message = slack.parse(slack_kit.envelope(slack_kit.message(text=text)), ours)
        case "telegram":
            plain = telegram_kit.update(message=telegram_kit.message(text=text))
            update = telegram_kit.command(text) if text.startswith("/") else plain
            message = telegram.parse_update(update, telegram.BotIdentity(str(telegram_kit.BOT_ID))).inbound
        case _:
            message = parse_line(text, person="ada", key="1")
    assert isinstance(message, InboundMessage), text
    return message.command or chat_words().read(message.text, channel)


def test_marks_are_looked_for_in_short_messages_only() -> None:
    assert chat_words().read("- - - - NEW? - - - -", "sms") == Command("new")
    assert chat_words().read("?" * 100 + "new", "sms") is None


def test_the_list_has_every_module_that_declares_words() -> None:
    declaring = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for path in (ROOT / "core").rglob("*.py")
        if " = ChatCommand(" in path.read_text(encoding="utf-8")
    }
    assert declaring == {*ROOMS, "core.messaging.help_words"}
    assert len(set(ROOMS)) == len(ROOMS)


@pytest.mark.parametrize("clash", [replace(TALLY, name="new"), replace(TALLY, argument="", words={"en": ("undo",)})])
def test_an_ability_cannot_take_a_word_that_means_something(clash: ChatCommand) -> None:
    with pytest.raises(ConfigError, match=r"'(new|undo)'"), planted(clash):
        pass
    assert TALLY not in chat_words().commands


def test_help_is_the_last_of_all_words() -> None:
    with planted(TALLY):
        assert [command.name for command in chat_words().commands[-3:]] == ["tally", "more", "help"]


def test_no_word_means_two_things() -> None:
    named = [command.name for command in chat_words().commands]
    alone = [word for command in chat_words().commands if not command.needs_argument for word in set(command)]
    assert len(named) == len(set(named))
    assert len(alone) == len(set(alone))
    assert all(word == word.lower() for word in alone)


def test_words_are_in_english_and_where_in_another_language_then_in_all() -> None:
    for command in chat_words().commands:
        assert set(command.words) in ({"en"}, set(LANGUAGES)), command.name
        assert all(command.words.values()), command.name


@pytest.mark.parametrize("channel", CHANNELS)
def test_each_word_is_understood_in_each_language(command: ChatCommand, channel: str) -> None:
    for language in command.words:
        with speaking(language):
            word = command.word()
        slash = {"slack": f"/valet {word}"}.get(channel, f"/{word}")
        if command.name in WITH:
            said = Command(command.name, WITH[command.name])
            assert heard(f"{word.upper()} {WITH[command.name]}", channel) == said
            assert heard(f"{slash} {WITH[command.name]}", channel) == said
        if command.needs_argument:
            continue
        if channel != "sms" or word.upper() not in OPT_OUT_WORDS | OPT_IN_WORDS:
            alone = Command(command.name, switch=command.switch)
            assert heard(slash, channel) == alone
            read = heard(f"{word.capitalize()}.", channel)
            assert read == (alone if command.stands_alone(channel) else None)
        assert heard(f"{word} somewhere else entirely, please", channel) is None or command.name == "disconnect"


def test_each_word_takes_what_it_says_it_does(command: ChatCommand) -> None:
    assert bool(command.argument) == (command.name in WITH)


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_spoken_word_counts_where_help_has_it_or_it_stands_alone(command: ChatCommand, channel: str) -> None:
    if command.needs_argument:
        return
    spoken = chat_words().spoken(f"{command.word().capitalize()}?", channel)
    counts = command.spoken and (command.stands_alone(channel) or command.is_listed(channel))
    assert spoken == (Command(command.name) if counts else None)


@pytest.mark.parametrize("channel", CHANNELS)
def test_help_has_a_line_about_each_word_that_is_listed_there(command: ChatCommand, channel: str) -> None:
    line = (command.example or as_shown(command, channel), command.help)
    assert (line in words(channel)) is command.is_listed(channel)


def test_the_menus_offer_what_the_declaration_says(command: ChatCommand) -> None:
    line = command.help[:1].upper() + command.help[1:]
    assert ((command.name, line) in profile_in("en").commands) is ("telegram" in command.channels.menu)
    in_slack = "slack" in command.channels.menu
    assert (f"`/valet {command.name}`: {command.help}" in str(home_view())) is in_slack
    assert (f"'{command.name} | " in str(manifest()) or f" {command.name} | " in str(manifest())) is in_slack


def test_the_page_has_a_row_of_each_word(command: ChatCommand) -> None:
    (row,) = [line for line in page().splitlines() if line.startswith("| `") and f"| {command.help} |" in line]
    assert all(f"`{word}`" in row for word in command) or f"`{command.example}`" in row


def test_the_page_is_the_one_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: uv run -m workbench.pages.words"


@pytest.mark.parametrize("channel", ["sms", "slack", "telegram", "email"])
def test_the_page_of_a_channel_leads_to_the_words(channel: str) -> None:
    assert "(../words.md)" in (ROOT / "docs" / "channels" / f"{channel}.md").read_text(encoding="utf-8")


def test_each_word_has_a_function_that_answers(command: ChatCommand) -> None:
    answer = answers_of(command.answer)
    assert inspect.iscoroutinefunction(answer)
    hints = get_type_hints(answer)
    returned = hints.pop("return")
    assert list(hints.values()) == [Asked]
    assert set(getattr(returned, "__args__", (returned,))) <= set(WordOutcome.__value__.__args__)


def test_a_new_words_line_is_said_in_each_language_that_a_catalogue_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "de.po").write_text('msgid "what I counted for you"\nmsgstr "was ich für dich gezählt habe"\n')
    monkeypatch.setattr(catalogue, "_folders", [LOCALES, tmp_path])
    catalogue.translations.cache_clear()
    with planted(TALLY):
        assert ("tally", "Was ich für dich gezählt habe") in profile_in("de").commands
        with speaking("de"):
            assert ("TALLY", "was ich für dich gezählt habe") in words("sms")
            assert ("`/valet tally`", "was ich für dich gezählt habe") in words("slack")
            assert TALLY.word() == "strichliste"
    monkeypatch.undo()
    catalogue.translations.cache_clear()
