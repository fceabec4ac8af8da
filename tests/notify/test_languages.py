"""What notifications say by themselves, in the language of their person, from workers that serve everybody."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from typing import Any

import pytest

from core.errors import Rejected
from core.language.catalogue import gettext, speaking
from core.messaging.messages import Action, OutboundKind, OutboundMessage
from core.notifications.types import Notification, Urgency
from jobs.delivery.runner import DeliveryRunner
from notify.email import render as email_render
from notify.push import render as push_render
from notify.slack import render as slack_render
from notify.slack.send import WORKING
from notify.sms import render as sms_render
from notify.telegram import render as telegram_render
from notify.terminal import render as terminal_render
from tests.clocks import StandingClock
from tests.core.language.english import english_in
from tests.notify.email.test_email import email, serving
from tests.notify.harness import People, people
from tests.notify.test_delays import DAY, answer, wait
from tests.notify.test_service import ask_approval, moment, night

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
OTHERS = pytest.mark.parametrize("language", ["de", "zh"])


@pytest.fixture
async def harness(database_url: str) -> AsyncIterator[People]:
    async with people(database_url, StandingClock(NOON)) as harness:
        yield harness


async def of(harness: People, language: str, *channels: str, wrote: str) -> None:
    """Let Ann in, who speaks a language."""
    await harness.bring_in("ann", *channels, wrote=wrote)
    await harness.prefer("ann", language=language)


@OTHERS
async def test_a_digest_and_its_title_are_in_the_persons_language(harness: People, language: str) -> None:
    await of(harness, language, "sms", wrote="sms")
    await night(harness, "ann", "11:00", "14:00")
    for news in ("N1", "N2"):
        await harness.service.notify("ann", Notification(news))
    moment(harness).move(hours=2)
    assert await harness.service.release_held() == 1
    await harness.deliver()
    [digest] = harness.said("sms")
    with speaking(language):
        title = gettext("What waited for you")
    assert await harness.store.db.notifications.column("title", category="digest") == [title]
    assert [english_in(text, language) for text in (digest, title)] == [[], []]
    assert digest.startswith({"de": "2 Nachrichten haben auf dich gewartet:", "zh": "有 2 条消息在等你："}[language])
    assert "N1" in digest


@OTHERS
@pytest.mark.parametrize("state", ["stopped", "blocked"])
async def test_a_lost_channel_is_told_in_the_persons_language(harness: People, language: str, state: str) -> None:
    await of(harness, language, "sms", "telegram", wrote="sms")
    await harness.store.db.identities.change({"state": state}, id="ann-sms")
    await harness.service.release_held()
    await harness.deliver()
    [told] = harness.said("telegram")
    assert english_in(told, language) == []
    if language == "de":
        assert (
            told
            == {
                "stopped": "Du hast meine Nachrichten per SMS abbestellt, deshalb schreibe ich dir jetzt hier.",
                "blocked": "Ich erreiche dich per SMS nicht mehr, deshalb schreibe ich dir jetzt hier.",
            }[state]
        )


@OTHERS
async def test_a_notice_that_fell_back_is_still_in_the_persons_language(harness: People, language: str) -> None:
    """The sentence is made again for the next place, from what the row holds."""
    await of(harness, language, "sms", "telegram", "email", wrote="sms")
    await harness.store.db.identities.change({"state": "blocked"}, id="ann-sms")
    await harness.service.release_held()
    harness.channels["telegram"].acts.append(Rejected("no", "400"))
    await harness.deliver()
    assert await harness.service.fall_back() == 1
    await harness.deliver()
    said = [*harness.said("telegram"), *harness.said("email")]
    assert len(said) == 2
    assert [english_in(text, language) for text in said] == [[], []]


@OTHERS
async def test_what_is_told_of_cards_and_delays_is_in_the_persons_language(harness: People, language: str) -> None:
    await of(harness, language, "telegram", "push", "sms", wrote="telegram")
    await ask_approval(harness, "A1")
    await harness.service.release_held()
    await harness.deliver()
    [card] = harness.said("push")
    await harness.prefer("ann", preferred_channel="push")
    await harness.service.notify("ann", Notification("N1?", actions=(Action("L1", "t"),), title="T1"))
    await harness.deliver()
    asked = harness.said("push")[1]
    harness.channels["telegram"].acts.append(DAY)
    await answer(harness, "A2")
    await wait(harness, minutes=11)
    await harness.store.admin.execute("update outbound set created_at = created_at - interval '11 minutes'")
    assert await harness.service.tell_delays() == 1
    await harness.deliver()
    delayed = harness.said("push")[2]
    texts = [card.replace("send an email to Bob", ""), asked, delayed]
    assert [english_in(text, language) for text in texts] == [[]] * 3
    if language == "de":
        assert (
            card
            == "# Deine Zustimmung wird gebraucht\n\nDas wartet in Telegram auf deine Zustimmung: send an email to Bob"
        )
        assert asked == "# T1\n\nN1?\n\nZum Antworten öffne Telegram."
        assert "über Telegram gerade nicht zustellen" in delayed


@OTHERS
async def test_an_email_without_words_of_its_own_is_in_the_persons_language(harness: People, language: str) -> None:
    await of(harness, language, "email", wrote="email")
    await harness.service.notify("ann", Notification("# *\n", urgency=Urgency.URGENT))
    async with serving() as server:
        runner = DeliveryRunner(harness.store.outbox, {"email": email(server.port)}, "w1")
        while claim := await runner.claim(None):
            await runner.run(claim)
        [(_, _, sent)] = server.kept
    read = message_from_bytes(sent, policy=default)
    body = read.get_content().strip()
    with speaking(language):
        assert (read["Subject"], body) == (gettext("A message from your assistant"), gettext("(no text)"))
    assert english_in(f"{read['Subject']}\n{body}", language) == []


@OTHERS
def test_what_a_channel_adds_to_a_message_is_in_the_persons_language(language: str) -> None:
    choices = tuple(Action("L1", f"t{number}") for number in range(slack_render.MAX_ACTIONS + 1))
    many = OutboundMessage("out_1", OutboundKind.CARD, "N1", choices)
    asks = OutboundMessage("out_2", OutboundKind.REPLY, "N1?", wants_reply=True)
    with speaking(language):
        texts = [str(slack_render.render(many)), str(telegram_render.render(asks)), gettext(WORKING)]
        assert gettext("More choices:") in texts[0]
        assert gettext("Your answer") in texts[1]
    assert [english_in(text, language) for text in texts] == [[]] * 3


@OTHERS
@pytest.mark.parametrize(
    "room", [email_render, push_render, slack_render, sms_render, telegram_render, terminal_render]
)
def test_a_message_without_text_says_so_on_every_channel(room: Any, language: str) -> None:
    empty = OutboundMessage("out_1", OutboundKind.NOTIFICATION, "")
    with speaking(language):
        assert gettext("(no text)") in str(room.render(empty))
