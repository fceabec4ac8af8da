"""The contract of cards: what a person sees, what a press of its buttons does, and how it is redrawn."""

import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

import pytest

from channels.terminal.parse import parse_line
from core.errors import Rejected, Unreachable
from core.messaging.capabilities import Redrawing
from core.messaging.messages import Action, ActionStyle, Form, FormField, ReachabilityChange
from tests.contract.canaries import OTHER_SECRET, marked
from tests.contract.channel_harnesses import SlackHarness, SmsHarness
from tests.contract.email_harness import also_by_mail
from tests.contract.harness import ChannelHarness, Request, card, exempt
from tests.eventually import eventually

TOKEN = "t" * 64
CARD = (
    Action("Approve", TOKEN, ActionStyle.PRIMARY),
    Action("Edit", "tok_2"),
    Action("Cancel", "tok_3", ActionStyle.DANGER),
)
NO_BUTTONS = "a text has no buttons: the words in it answer a card"
SENDERS = {"slack": "U0ADA00001", "telegram": "700100001"}


# What is shown


async def test_a_cards_buttons_stand_below_its_last_part_with_their_tokens(harness: ChannelHarness) -> None:
    parts = harness.sender.render(card(marked("word " * 4000 + "OK 7K or NO 7K"), *CARD))
    *before, last = await harness.read(parts)
    assert before
    assert not any(bubble.buttons for bubble in before)
    assert marked("OK 7K or NO 7K") in last.text
    # A text has no buttons: the words in it answer a card.
    assert last.buttons == (tuple((action.label, action.token) for action in CARD) if harness.has_buttons else ())


@exempt(sms="a text once sent cannot be changed: another one tells")
async def test_promise_10_a_card_can_be_redrawn_any_number_of_times(harness: ChannelHarness) -> None:
    assert isinstance(harness.sender, Redrawing)
    (part,) = harness.sender.render(card(marked("**7K: Send it?**\n\nTo: `<!channel> & [you](x)`"), *CARD))
    (before,) = await harness.read([part])
    provider_id = before.id.rpartition(":")[2]
    for _ in range(2):
        await harness.sender.redraw(part, provider_id, harness.address(), "Approved at 14:02 <by> *you*")
        (after,) = harness.bubbles()
        assert after.id == before.id
        assert re.sub(r"\s+", " ", after.text) == re.sub(r"\s+", " ", f"{before.text} Approved at 14:02 <by> *you*")
        assert after.buttons == ()
    with pytest.raises(Rejected) as refused:
        await harness.sender.redraw(
            part, "4711.000100" if harness.name == "slack" else "4711", harness.address(), "Approved"
        )
    assert not isinstance(refused.value, Unreachable)  # it is the card that is gone, not the person


@exempt(sms="a text once sent cannot be changed: another one tells")
@pytest.mark.parametrize("length", [0, 11_900, 12_100, 4_000, 8_150, 24_000])
async def test_promise_10_a_redraw_leaves_out_the_closing(harness: ChannelHarness, length: int) -> None:
    assert isinstance(harness.sender, Redrawing)
    closing = "Reply OK 7K to approve, NO 7K to cancel. It stays open for 30 minutes."
    text = marked(f"**7K: Send it?**\n\n{'a word of it, ' * (length // 14)}\n\nTo: `sam`")
    parts = harness.sender.render(replace(card(f"{text}\n\n{closing}", *CARD), closing=closing))
    *others, before = await harness.read(parts)
    assert closing in before.text
    await harness.sender.redraw(parts[-1], before.id.rpartition(":")[2], harness.address(), "Approved at 14:02.")
    *same, after = harness.bubbles()
    assert same == others
    assert after.id == before.id
    kept = re.sub(r"\s+", " ", before.text.replace(closing, "")).strip()
    assert re.sub(r"\s+", " ", after.text) == f"{kept} Approved at 14:02.".strip()
    assert after.buttons == ()


# What a press is


@exempt(sms=NO_BUTTONS)
async def test_a_press_is_the_persons_own_and_is_answered_after_the_commit(harness: ChannelHarness) -> None:
    (bubble,) = await harness.read(harness.sender.render(card(marked("Send it?"), *CARD)))
    harness.sink.said, harness.sink.failures = marked("Approved."), 1
    await harness.press(bubble)
    await harness.settled()
    if harness.name == "slack":  # a press is told once: the person sees that it failed, and presses again
        assert harness.whispers() == []
        await harness.press(bubble)
    await eventually(lambda: harness.whispers() == [marked("Approved.")])
    assert [answer.status for answer in harness.told] == [503, 200]
    (press,) = harness.sink.presses
    assert press.keys
    assert (press.address, press.sender) == (harness.address(), SENDERS[harness.name])
    assert (press.token, press.provider_id, press.entered) == (TOKEN, bubble.id.rpartition(":")[2], None)
    again = await harness.post(harness.signed(harness.told[-1]))
    assert (again, len(harness.sink.presses)) == (200, 1)


@exempt(sms=NO_BUTTONS)
async def test_two_presses_are_two(harness: ChannelHarness) -> None:
    (bubble,) = await harness.read(harness.sender.render(card(marked("Send it?"), *CARD)))
    for number in (0, 0, 2):
        await harness.press(bubble, number)
        await harness.settled()
    assert [press.token for press in harness.sink.presses] == [TOKEN, TOKEN, "tok_3"]
    assert len({key for press in harness.sink.presses for key in press.keys}) >= 3


@exempt(sms=NO_BUTTONS)
async def test_promise_12_forged_and_odd_presses_reach_nobody(harness: ChannelHarness) -> None:
    (bubble,) = await harness.read(harness.sender.render(card(marked("Send it?"), *CARD)))
    await harness.press(bubble)
    await harness.settled()
    genuine, calls = harness.told[-1], harness.sink.calls
    unsigned = [genuine.without(harness.proof), harness.signed(genuine, OTHER_SECRET), genuine.twice(harness.proof[-1])]
    assert [await harness.post(post) // 100 for post in unsigned] == [4, 4, 4]
    assert harness.sink.calls == calls
    for change in (_SLACK if harness.name == "slack" else _TELEGRAM).values():
        status = await harness.post(harness.signed(_spoiled(genuine, change)))
        assert 200 <= status < 500, change
    assert len(harness.sink.presses) == 1
    assert harness.whispers() in ([], [""])


@exempt(sms="a text has no forms", telegram="Telegram has no forms: the person is asked, and replies")
async def test_a_form_opens_before_its_trigger_expires_and_is_its_persons_alone(harness: ChannelHarness) -> None:
    assert isinstance(harness, SlackHarness)
    harness.sink.form = Form("tok_form", "Change 7K", marked("Send it?"), (FormField("when", "When", "noon"),))
    (bubble,) = await harness.read(harness.sender.render(card(marked("Send it?"), *CARD)))
    await harness.press(bubble, 1)
    await eventually(lambda: bool(harness.modals()))
    (modal,) = harness.modals()
    harness.sink.form = None
    assert (await harness.act("submit", view_id=modal["id"], values={"when": "3pm"}))["outcome"] == "closed"
    press, sent = harness.sink.presses
    assert press.entered is None
    assert (sent.address, sent.sender) == (harness.address(), SENDERS["slack"])
    assert (sent.token, sent.entered) == ("tok_form", (("when", "3pm"),))
    assert sent.keys != press.keys


@exempt(sms="a text answers nothing in particular", slack="what is said in a thread stands in its conversation")
async def test_a_reply_to_a_message_of_ours_names_it(harness: ChannelHarness) -> None:
    (bubble,) = await harness.read(harness.sender.render(card(marked("What should I change?"))))
    ours = bubble.id.rpartition(":")[2]
    sent = await harness.act("say", text=marked("at 3pm"), reply_to=int(ours))
    await harness.settled()
    await harness.act("say", text=marked("and more"), reply_to=sent["message_id"])
    await harness.settled()
    assert [message.reply_to for message in harness.sink.messages] == [ours, ""]


# What is said


@also_by_mail
async def test_the_words_that_decide_come_in_as_they_were_said(harness: ChannelHarness) -> None:
    words = ["OK 7K", "no 7k.", "EDIT 7K make it 3pm", "OK ALL", "ok", "No", "OK 7K 4711", "pending"]
    for text in words:
        await harness.said(text)
    assert [message.text for message in harness.sink.messages] == words
    *deciding, _ = harness.sink.messages
    assert {message.command for message in deciding} == {None}
    if isinstance(harness, SmsHarness):  # the carrier's own words decide nothing, whoever asked
        for text in ("STOP", "START", "CANCEL", "START", "END", "START", "QUIT"):
            await harness.said(text)
        changes = [change.reachable for change in harness.sink.kept if isinstance(change, ReachabilityChange)]
        assert changes == [False, True, False, True, False, True, False]
        assert len(harness.sink.messages) == len(words)


def test_deciding_words_arrive_from_the_terminal_as_typed() -> None:
    for text in ("OK 7K", "EDIT 7K make it 3pm", "OK ALL", "NO 7K"):
        line = parse_line(text, person="ada", key="line_1")
        assert (line.text, line.command) == (text, None)


_BUTTON = {"type": "button", "action_id": "choice_0", "action_ts": "1794650001.000200", "value": TOKEN}
_GROUP = {"id": -100500, "type": "supergroup", "title": "Us"}
_SLACK: dict[str, dict[str, object]] = {
    "no user": {"user": None},
    "a name for a user": {"user": {"id": "ada", "username": "ada", "name": "Ada"}},
    "another team": {"team": {"id": "T0OTHER001"}},
    "another app": {"api_app_id": "A0OTHER001"},
    "no actions": {"actions": []},
    "actions that are none": {"actions": "approve"},
    "another button": {"actions": [_BUTTON | {"action_id": "approve"}]},
    "no value": {"actions": [_BUTTON | {"value": None}]},
    "a long value": {"actions": [_BUTTON | {"value": "x" * 2000}]},
    "half a letter": {"actions": [_BUTTON | {"value": "\ud800"}]},
    "no container": {"container": None},
    "in a group": {"container": {"type": "message", "channel_id": "C0GENERAL1", "message_ts": "1794650001.000200"}},
    "an odd message": {"container": {"type": "message", "channel_id": "D0ADA00001", "message_ts": ["x"]}},
}
_TELEGRAM: dict[str, dict[str, object]] = {
    "nobody": {"from": None},
    "a name for a number": {"from": {"id": "ada_lovelace", "is_bot": False, "first_name": "Ada"}},
    "somebody else's chat": {"from": {"id": 700100002, "is_bot": False, "first_name": "Ada"}},
    "a bot": {"from": {"id": 700100001, "is_bot": True, "first_name": "Ada"}},
    "no id": {"id": None},
    "inline": {"message": None, "inline_message_id": "x"},
    "in a group": {"message": {"message_id": 1, "date": 1, "chat": _GROUP}},
    "a message that is none": {"message": []},
    "no data": {"data": None},
    "a long value": {"data": "x" * 65},
    "half a letter": {"data": "\ud800"},
    "data that is none": {"data": {"a": 1}},
}


def _spoiled(genuine: Request, change: dict[str, object]) -> Request:
    """Return a request with fields of its press replaced (None: left out)."""
    if genuine.body.startswith(b"payload="):
        payload = json.loads(dict(parse_qsl(genuine.body.decode()))["payload"]) | change
        kept = {name: value for name, value in payload.items() if value is not None}
        return Request(genuine.path, genuine.headers, urlencode({"payload": json.dumps(kept)}).encode())
    update = json.loads(genuine.body)
    query = update["callback_query"] | {"id": "4711"} | change
    kept = {name: value for name, value in query.items() if value is not None}
    body = {"update_id": update["update_id"] + 1000 + len(json.dumps(kept)), "callback_query": kept}
    return Request(genuine.path, genuine.headers, json.dumps(body).encode())
