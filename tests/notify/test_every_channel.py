"""What every notification channel keeps to that needs no provider: whole words, whole order, nothing empty."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.messaging.channels import NotificationChannel
from core.messaging.messages import Action, Address, OutboundKind, OutboundMessage
from notify.email.send import EmailNotification, SmtpServer
from notify.programs.send import ClientNotification
from notify.push.send import PushNotification
from notify.terminal.send import TerminalNotification
from onevalet.settings import Settings
from onevalet.wiring.channels import build_notification_channels
from tests.examples import examples

CHANNELS: list[NotificationChannel] = [
    TerminalNotification(),
    PushNotification(),
    ClientNotification(),
    EmailNotification(SmtpServer("127.0.0.1", "valet@example.org")),
]


def message(text: str) -> OutboundMessage:
    return OutboundMessage("out_1", OutboundKind.NOTIFICATION, text, (Action("Yes", "token"),))


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel.name)
async def test_a_long_text_is_rendered_whole_in_order_and_always_alike(channel: NotificationChannel) -> None:
    words = [f"w{number:05d}" for number in range(4000)]
    parts = channel.render(message("\n".join(" ".join(words[start : start + 40]) for start in range(0, 4000, 40))))
    assert parts == channel.render(
        message("\n".join(" ".join(words[start : start + 40]) for start in range(0, 4000, 40)))
    )
    rendered = [word for part in parts for word in part.text.split() if word.startswith("w0")]
    assert rendered == words
    await channel.show_working(Address(channel.name, "a", "p"))
    await channel.close()
    await channel.close()


@given(text=st.text(max_size=300), which=st.sampled_from(range(len(CHANNELS))))
@examples(80)
def test_any_text_gives_parts_that_say_something(text: str, which: int) -> None:
    parts = CHANNELS[which].render(message(text))
    assert parts
    assert all(part.text.strip() for part in parts)


def test_each_channel_is_known_by_the_name_it_is_configured_under() -> None:
    built = build_notification_channels(Settings(_env_file=None, smtp_host="mail.example.org", smtp_from="a@b.c"))
    assert {name: channel.name for name, channel in built.items()} == {
        name: name for name in ("terminal", "push", "mcp", "email")
    }
