"""The same words about oneself on every channel, whichever way each has for commands."""

import pytest

from channels.slack import parse as slack
from channels.slack.messages import AppIdentity
from channels.telegram import parse as telegram
from core.language.catalogue import LANGUAGES, speaking
from core.messaging.chat_reader import chat_words
from core.messaging.messages import Command
from core.people.chat_words import PREFERENCES, preference_of
from core.people.preferences import Preference, label_of
from tests.channels.slack import builders as slack_kit
from tests.channels.telegram import builders as telegram_kit

CODE = "ABC-2D3-EFG"


@pytest.mark.parametrize(
    ("text", "channel", "command"),
    [
        ("LINK", "sms", Command("link")),
        ("link.", "sms", Command("link")),
        ("link", "telegram", None),
        (f"LINK {CODE}", "sms", Command("link", CODE)),
        (f"link {CODE.lower()}", "telegram", Command("link", CODE.lower())),
        ("Link abc 2d3 efg agree", "slack", Command("link", "abc 2d3 efg agree")),
        (f"/link {CODE}", "terminal", Command("link", CODE)),
        ("link the blue car to mine", "sms", None),
        ("link our two cars", "sms", None),
        ("UNLINK", "sms", Command("unlink")),
        ("MEMORY", "sms", Command("memory")),
        ("memory.", "slack", Command("memory")),
        ("memory", "telegram", None),
        ("my memory is bad", "sms", None),
        ("Prefs quiet 22:00-07:00", "sms", Command("prefs", "quiet 22:00-07:00")),
        ("prefs are odd", "sms", None),
        ("profile undo 3", "telegram", Command("profile", "undo 3")),
        ("UNDO", "sms", Command("undo")),
        ("Undo.", "slack", Command("undo")),
        ("undo", "telegram", Command("undo")),
        ("undo 12", "telegram", Command("undo", "12")),
        ("/undo #3", "terminal", Command("undo", "3")),
        ("undo the dishes reminder", "sms", None),
        ("undo b", "telegram", Command("undo", "b")),
        ("Undo A2.", "sms", Command("undo", "A2")),
        ("undo task 3", "sms", Command("undo", "3")),
        ("Rückgängig Aufgabe 3", "sms", Command("undo", "3")),
        ("撤销任务3", "sms", Command("undo", "3")),
        ("UNDO IT", "sms", None),
        ("undo it", "slack", None),
        ("Connect google.", "sms", Command("connect", "google")),
        ("connect google as my job", "telegram", Command("connect", "google as my job")),
        ("/connect", "sms", Command("connect")),
        ("Accounts", "telegram", Command("accounts")),
        ("disconnect ann@example.org", "slack", Command("disconnect", "ann@example.org")),
        ("Disconnect", "sms", Command("disconnect")),
        ("connect my Google calendar", "sms", None),
        ("connect me with Sam", "telegram", None),
    ],
)
def test_words_are_read_alike(text: str, channel: str, command: Command | None) -> None:
    assert chat_words().read(text, channel) == command


@pytest.mark.parametrize("word", ["link", "unlink", "prefs", "profile", "memory", "undo"])
def test_slash_commands_are_read_by_their_channels(word: str) -> None:
    bot = telegram.BotIdentity(str(telegram_kit.BOT_ID), "valet_bot")
    typed = telegram.parse_update(telegram_kit.command(f"/{word} {CODE}"), bot).inbound
    assert getattr(typed, "command", None) == Command(word, CODE)
    heard = slack.parse(slack_kit.command(text=word.upper()), AppIdentity(slack_kit.TEAM, slack_kit.APP))
    assert isinstance(heard, slack.SlashCommand)
    assert heard.message.command == Command(word)


@pytest.mark.parametrize("text", ["connect google as job", "Disconnect ann@example.org", "connect foo"])
def test_slack_reads_a_command_about_an_account_with_its_name(text: str) -> None:
    heard = slack.parse(slack_kit.command(text=text), AppIdentity(slack_kit.TEAM, slack_kit.APP))
    assert isinstance(heard, slack.SlashCommand)
    name, _, argument = text.partition(" ")
    assert heard.message.command == Command(name.lower(), argument)
    assert heard.message.text == f"/valet {text}"
    plain = slack.parse(slack_kit.command(text="connect my two calendars"), AppIdentity(slack_kit.TEAM, slack_kit.APP))
    assert isinstance(plain, slack.SlashCommand)
    assert plain.message.command is None


def test_no_word_that_carriers_take_is_asked_for() -> None:
    carriers = {"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT", "START", "UNSTOP", "YES"}
    assert carriers.isdisjoint({"LINK", "UNLINK", "PREFS", "PROFILE", "MEMORY", "UNDO", "AGREE"})


@pytest.mark.parametrize("word", ["undo", "Rückgängig", "deshacer", "défaire", "DESFAZER", "撤销"])
def test_what_was_done_is_taken_back_by_the_word_of_each_language(word: str) -> None:
    assert chat_words().read(f"{word} 3", "sms") == Command("undo", "3")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_preference_is_set_by_the_word_by_which_the_list_names_it(language: str) -> None:
    for name in Preference:
        with speaking(language):
            word = label_of(name)
        command = chat_words().read(f"PREFS {word.capitalize()} x y", "sms")
        assert command is not None, word
        assert (command.name, preference_of(command.argument)) == ("prefs", (name, "x y"))
    assert list(PREFERENCES) == list(Preference)
