"""/help lists what a person can type on their channel: every word that is read there, and none that is not."""

import re

import pytest

from channels.slack.messages import AppIdentity
from channels.slack.parse import WORDS, SlashCommand, parse
from channels.sms.parse import COMMANDS, START_WORDS, STOP_WORDS
from channels.telegram.profile import profile_in
from channels.terminal.parse import parse_line
from core.approvals.exact_replies import parse_exact_reply
from core.messaging.commands import ACCOUNT_COMMANDS, MORE, PERSON_COMMANDS, answer_command, own_words
from core.messaging.help_text import words
from core.messaging.messages import Command, OutboundKind, OutboundMessage
from notify.sms.render import render
from tests.channels.slack import builders as slack_kit
from tests.shipping.harness import read

CHANNELS = ["sms", "slack", "telegram", "terminal"]
KNOWN = {*PERSON_COMMANDS, "new", "stop", "help", "pending", "memory", *(ACCOUNT_COMMANDS - {"disconnect"})}


def text_of(channel: str) -> str:
    answer = answer_command(Command("help"), channel)
    assert answer is not None
    return answer.text


def listed(channel: str) -> list[str]:
    lines = text_of(channel).splitlines()
    return [line.removeprefix("- ").partition(":")[0] for line in lines if line.startswith("- ")]


@pytest.mark.parametrize("channel", CHANNELS)
def test_help_lists_one_word_a_line_and_each_of_ours_once(channel: str) -> None:
    names = [re.sub(r"^/valet |^/", "", word.strip("`")).lower() for word in listed(channel)]
    assert len(names) == len(set(names)) > len(KNOWN)
    assert {{"halt": "stop"}.get(name, name) for name in names if name != "stop" or channel != "sms"} >= KNOWN
    assert listed(channel) == [word for word, _ in words(channel)]


@pytest.mark.parametrize("channel", CHANNELS)
def test_every_word_that_help_lists_is_read_by_its_channel(channel: str) -> None:
    for line in listed(channel):
        for word in line.strip("`").split(", "):
            if not word.startswith("EDIT"):  # the model reads what to change
                assert is_read(word, channel), word


def is_read(word: str, channel: str) -> bool:
    if parse_exact_reply(word) or own_words(word, channel):
        return True
    match channel:
        case "sms":
            return word in {*COMMANDS, *STOP_WORDS, *START_WORDS, MORE.upper()}
        case "slack":
            ours = AppIdentity(slack_kit.TEAM, slack_kit.APP)
            heard = parse(slack_kit.command(text=word.removeprefix("/valet ")), ours)
            return isinstance(heard, SlashCommand) and heard.message.command is not None
        case "telegram":
            return word.removeprefix("/") in dict(profile_in("en").commands)
    command = parse_line(word, person="ada", key="1").command
    return command is not None and command.name in KNOWN


def test_what_the_channels_offer_is_in_the_help() -> None:
    assert {f"/{name}" for name, _ in profile_in("en").commands} - {"/start"} <= set(listed("telegram"))
    # `accounts` tells how to end a connection, which is to say `disconnect` and a name.
    assert {f"`/valet {word}`" for word in WORDS - {"disconnect"}} <= set(listed("slack"))


@pytest.mark.parametrize("channel", ["sms", "slack", "telegram"])
def test_the_page_of_a_channel_names_every_word_of_its_help(channel: str) -> None:
    page = read(f"docs/channels/{channel}.md")
    named = [word for line in listed(channel) for word in line.strip("`").split(", ")]
    assert [word for word in named if not re.search(rf"(?<![\w/]){re.escape(word)}(?!\w)", page)] == []


def test_stop_and_start_are_words_by_sms_alone() -> None:
    assert {"STOP", "START", "MORE"} <= set(listed("sms"))
    for channel in ("slack", "telegram", "terminal"):
        assert not {"STOP", "START", "MORE", "HALT"} & set(listed(channel))
        assert ("buttons" in text_of(channel)) == (channel != "terminal")


def test_help_by_sms_is_one_text_of_at_most_six_segments() -> None:
    (part,) = render(OutboundMessage("out_1", OutboundKind.REPLY, text_of("sms")))
    assert part.segments <= 6
    assert part.text.splitlines()[-2:] == ["- STOP: end all messages from me", "- START: get messages from me again"]
