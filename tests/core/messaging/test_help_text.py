"""/help lists what a person can type on their channel: every word that is read there, and none that is not."""

import pytest

from channels.sms.texts import OPT_IN_WORDS, OPT_OUT_WORDS
from core.approvals.exact_replies import parse_exact_reply
from core.messaging.chat_reader import chat_words
from core.messaging.help_text import as_shown, help_text, words
from core.messaging.messages import OutboundKind, OutboundMessage
from notify.sms.render import render

CHANNELS = ["sms", "slack", "telegram", "email", "terminal"]


def listed(channel: str) -> list[str]:
    lines = help_text(channel).splitlines()
    return [line.removeprefix("- ").partition(":")[0] for line in lines if line.startswith("- ")]


@pytest.mark.parametrize("channel", CHANNELS)
def test_help_lists_one_word_a_line_and_each_of_ours_once(channel: str) -> None:
    known = [one for one in chat_words().commands if one.is_listed(channel)]
    named = {one.example or as_shown(one, channel) for one in known}
    assert len(listed(channel)) == len(set(listed(channel)))
    assert named <= set(listed(channel))
    assert listed(channel) == [word for word, _ in words(channel)]


@pytest.mark.parametrize("channel", CHANNELS)
def test_every_word_that_help_lists_is_read_by_its_channel(channel: str) -> None:
    for line in listed(channel):
        for word in line.strip("`").removeprefix("/valet ").split(", "):
            carriers = channel == "sms" and word in OPT_OUT_WORDS | OPT_IN_WORDS
            typed = f"/{word}" if channel == "slack" else word
            read = parse_exact_reply(word) or chat_words().read(typed, channel)
            assert read or carriers or word.startswith("EDIT"), word  # the model reads what to change


def test_stop_and_start_are_words_by_sms_alone() -> None:
    assert {"STOP", "START", "MORE"} <= set(listed("sms"))
    for channel in ("slack", "telegram", "terminal"):
        assert not {"STOP", "START", "MORE", "HALT"} & set(listed(channel))
        assert ("buttons" in help_text(channel)) == (channel != "terminal")


def test_help_by_sms_is_one_text_of_at_most_six_segments() -> None:
    (part,) = render(OutboundMessage("out_1", OutboundKind.REPLY, help_text("sms")))
    assert part.segments <= 6
    assert part.text.splitlines()[-2:] == ["- STOP: end all messages from me", "- START: get messages from me again"]
