"""Every call that we make passes the providers' published descriptions, in all that these describe."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from telegram import MenuButtonDefault

from channels.slack.manifest import SCOPES
from channels.sms.receive import SmsChannel
from channels.telegram.setup import setup_bot
from core.messaging.capabilities import Marking, Reacting, Redrawing
from core.messaging.channels import Target, file_part
from core.messaging.emoji import THUMB_UP
from core.messaging.files import OutgoingFile
from core.messaging.messages import Action, Address, Form, FormField, FormFieldKind, OutboundMessage
from notify.sms.send import SmsNotification
from tests.abilities.documents.samples import picture
from tests.contract import published
from tests.contract.canaries import SERVICE, TWILIO, marked
from tests.contract.channel_harnesses import HARNESSES, SlackHarness, SmsHarness, TelegramHarness
from tests.contract.corpus import corpus
from tests.contract.harness import PUBLIC_URL, ChannelHarness, card, open_harness, reply
from tests.eventually import eventually
from workbench.simulator.journal import Call, Json

CALLED = {
    "sms": {
        *("twilio.account.fetch", "twilio.messages.create", "twilio.messages.list", "twilio.media.list"),
        *("twilio.numbers.list", "twilio.numbers.update", *published.TWILIO_ELSEWHERE),
    },
    "slack": {
        *("assistant.threads.setStatus", "auth.test", "bots.info", "chat.postEphemeral", "chat.postMessage"),
        *(
            "files.getUploadURLExternal",
            "files.completeUploadExternal",
            "chat.update",
            "conversations.history",
            "conversations.list",
            "conversations.open",
        ),
        *("conversations.replies", "reactions.add", "reactions.remove", "users.info", "views.open", "views.publish"),
    },
    "telegram": {
        *("answerCallbackQuery", "deleteWebhook", "editMessageReplyMarkup", "editMessageText", "getChatMenuButton"),
        *(
            "getMe",
            "getMyCommands",
            "getMyDescription",
            "getMyShortDescription",
            "getUpdates",
            "getWebhookInfo",
            "sendChatAction",
            "sendDocument",
            "sendMessage",
            "sendVoice",
            "setMessageReaction",
        ),
        *("sendPhoto", "setChatMenuButton", "setMyCommands", "setMyDescription", "setMyShortDescription", "setWebhook"),
    },
}
"""Every endpoint that we call, by channel."""
FILES = {
    "sms": "twilio-api-v2010.openapi.json",
    "slack": "slack-web.openapi2.json",
    "telegram": "telegram-bot-api.json",
}
CHECKS: dict[str, Callable[[dict[str, Any], Call], list[str]]] = {
    "sms": published.twilio_problems,
    "slack": published.slack_problems,
    "telegram": published.telegram_problems,
}


@pytest.mark.whole("it needs the providers' descriptions")
async def test_every_call_is_taken_as_it_is_and_is_as_its_provider_publishes_it(channel: str) -> None:
    async with open_harness(HARNESSES[channel]) as harness:
        await _make_every_call(harness)
        calls = harness.simulator.wire.journal.calls(provider=harness.provider)
    # The address for a file's bytes is Slack's own affair: no method.
    made = [call for call in calls if call.direction == "out" and call.endpoint != "slack.upload"]
    assert [(call.endpoint, call.status, call.answer) for call in made if not _is_well(call)] == []
    assert {call.endpoint.removeprefix("slack.").removeprefix("telegram.") for call in made} == CALLED[channel]
    if channel == "slack":
        _hold_against_the_sdk(made)
    spec = _description(channel)
    described = [call for call in made if call.endpoint not in published.TWILIO_ELSEWHERE]
    assert sorted({problem for call in described for problem in CHECKS[channel](spec, call)}) == []


@pytest.mark.whole("it needs the providers' descriptions")
@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("sms", {"Body": "x" * 5}, ""),
        ("sms", {"Boddy": "x"}, "CreateMessage: Boddy is no field"),
        ("sms", {"StatusCallback": "nowhere"}, "CreateMessage.StatusCallback: no URI"),
        ("sms", {"To": "ada"}, "CreateMessage.To: no phone number"),
        ("sms", {"ContentRetention": "eternal"}, "CreateMessage.ContentRetention: 'eternal' is not one of"),
        ("slack", {"chanel": "C1"}, "chat.postMessage: chanel is no argument"),
        ("slack", {"unfurl_links": "perhaps"}, "chat.postMessage.unfurl_links: no boolean"),
        ("telegram", {"text": "x" * 4097}, "sendMessage.text: 4097 characters, not 1 to 4096"),
        ("telegram", {"message_thread_id": "x"}, "sendMessage.message_thread_id: no Integer"),
        (
            "telegram",
            {"entities": '[{"type": "loud", "offset": 0, "length": 1}]'},
            "sendMessage.entities[0].type: loud",
        ),
        (
            "telegram",
            {"reply_markup": json.dumps({"inline_keyboard": [[{"text": "a", "callback_data": "é" * 33}]]})},
            "sendMessage.reply_markup.inline_keyboard[0][0].callback_data: 66 bytes, not 1 to 64",
        ),
    ],
)
def test_the_check_finds_what_is_wrong(name: str, change: dict[str, Json], problem: str) -> None:
    spec = _description(name)
    bodies: dict[str, dict[str, Json]] = {
        "sms": {"To": "+14155557701", "From": TWILIO.number, "Body": "hello"},
        "slack": {"channel": "D1", "text": "hello"},
        "telegram": {"chat_id": "1", "text": "hello"},
    }
    url = {"sms": f"/twilio/2010-04-01/Accounts/{TWILIO.account_sid}/Messages.json"}.get(name, "/x")
    asked: Json = {"method": "POST", "url": url, "body": bodies[name] | change}
    call = Call(0.0, name, "out", HARNESSES[name].sending, 200, asked, None)
    problems = CHECKS[name](spec, call)
    assert any(finding.startswith(problem) for finding in problems) if problem else problems == []


def _description(channel: str) -> dict[str, Any]:
    folder = os.environ.get("ONEVALET_SPECS")
    if not folder:
        pytest.skip("ONEVALET_SPECS is not set: the providers' descriptions are elsewhere")
    spec: dict[str, Any] = json.loads((Path(folder) / FILES[channel]).read_text())
    return spec


def _hold_against_the_sdk(made: list[Call]) -> None:
    """See that all is as the SDK has it, and that the list of what is newer holds nothing that we do not use."""
    assert sorted({problem for call in made for problem in published.sdk_problems(call)}) == []
    used = {(call.endpoint.removeprefix("slack."), name) for call in made for name in published.slack_arguments(call)}
    methods = {method for method, _ in used}
    for method, newer in published.NEWER.items():
        for name in newer:
            assert (method, name) in used or (name == "*" and method in methods), "no longer used: strike it off"
    kinds = {block["type"] for call in made for block in published.slack_arguments(call).get("blocks", [])}
    assert kinds == {"actions", "context", "section", *published.NEWER_BLOCKS}


def _is_well(call: Call) -> bool:
    answer: Any = call.answer
    return call.status < 300 and (answer["body"] or {}).get("ok", True)


async def _make_every_call(harness: ChannelHarness) -> None:
    if isinstance(harness, SlackHarness):
        await harness.act("set", scopes=[*SCOPES])
    await harness.meet()
    messages = [
        message for message in corpus() if harness.name != "telegram" or not message.media
    ]  # Telegram would fetch those
    if isinstance(harness, TelegramHarness):
        messages += await _sent_back(harness)
    for number, message in enumerate(messages):
        for index, part in enumerate(harness.sender.render(message)):
            receipt = await harness.sender.send(part, harness.target(f"part_{number}_{index}"))
            assert not receipt.degraded, (message, part)
    (part,) = harness.sender.render(reply(marked("Shall I?"), Action("Go", "tok")))
    receipt = await harness.sender.send(part, harness.target("part_last"))
    await harness.sender.show_working(harness.address())
    if harness.sender.can_find:
        assert await harness.sender.find(part, harness.target("part_last"), datetime.now(UTC)) == receipt
    if isinstance(harness.sender, Redrawing):
        await _use_a_card(harness, harness.sender)
    await _upload(harness)
    await harness.send_file()
    await harness.channel.catch_up(datetime.now(UTC) - timedelta(hours=1))
    await harness.channel.check()
    await harness.channel.setup()
    match harness:
        case SmsHarness():
            await _use_a_service(harness)
        case SlackHarness():
            await _use_slack(harness)
        case TelegramHarness():
            await _use_telegram(harness, receipt.provider_id)


async def _upload(harness: ChannelHarness) -> None:
    """Send a picture, a voice and a document as files, where they are uploaded."""
    if harness.name == "sms":
        return
    voice = b"OggS" + bytes(24) + b"OpusHead" + bytes(40)
    contents = {"image/png": picture("PNG"), "audio/ogg": voice, "text/csv": b"a,b"}
    for kind, data in contents.items():

        async def read(_: str, data: bytes = data) -> bytes:
            return data

        part = file_part(OutgoingFile("f1", marked("a"), kind, len(data)))
        receipt = await harness.sender.send(part, replace(harness.target(f"part_{kind}"), read_file=read))
        assert not receipt.degraded, kind


async def _use_a_card(harness: ChannelHarness, sender: Redrawing) -> None:
    """Press its button, answer with a word and a form, and redraw it, with room for the outcome and without."""
    fields = (
        FormField("to", "To", "Bob <b@example.com>"),
        FormField("body", "Body", "Dear Bob,\n1 < 2", FormFieldKind.TEXT, required=False),
        FormField("seat", "Seat", "aisle", FormFieldKind.CHOICE, options=("window", "aisle")),
        FormField("mood", "Mood", "", FormFieldKind.CHOICE, options=("x" * 200,)),
    )
    harness.sink.said, harness.sink.form = (
        "Soon.",
        Form("tok_form", "Change 7K", "Send it?\n" + "more & " * 900, fields),
    )
    for text in ("**7K: Send it?** `<now>`", "x" * 4090):
        (part,) = harness.sender.render(card(marked(text) if len(text) < 100 else text, Action("Edit", "tok")))
        receipt = await harness.sender.send(part, harness.target(f"part_card_{len(text)}"))
        await harness.press(harness.bubbles()[-1])
        await harness.settled()
        await eventually(lambda: "Soon." in harness.whispers())
        await sender.redraw(part, receipt.provider_id, harness.address(), "Approved <at> 14:02")
    harness.sink.said, harness.sink.form = "", None


async def _use_a_service(harness: SmsHarness) -> None:
    channel = SmsChannel(
        account_sid=TWILIO.account_sid,
        auth_token=TWILIO.auth_token,
        sender=SERVICE,
        public_url=PUBLIC_URL,
        api_url=harness.simulator.twilio_url,
        sink=harness.sink,
    )
    sender = SmsNotification(
        account_sid=TWILIO.account_sid,
        auth_token=TWILIO.auth_token,
        sender=SERVICE,
        public_url=PUBLIC_URL,
        api_url=harness.simulator.twilio_url,
    )
    await channel.setup()
    await channel.check()
    await channel.catch_up(datetime.now(UTC))
    target = Target(Address("sms", SERVICE, harness.address().peer), "part_service")
    (part,) = sender.render(reply("Hello"))
    receipt = await sender.send(part, target)
    assert await sender.find(part, target, datetime.now(UTC)) == receipt
    await channel.stop()
    await sender.close()


async def _use_slack(harness: SlackHarness) -> None:
    root = (await harness.act("say", text=marked("a thread")))["ts"]
    await harness.act("open_home")
    await harness.act("command", "grace", text="/valet help")
    await harness.settled()
    where = harness.address()
    thread = Target(Address(where.channel, where.account, where.peer, root), "part_thread")
    await harness.sender.show_working(thread.address)
    assert isinstance(harness.sender, Marking)
    harness.sender.mark(where, root)
    harness.sender.unmark(where, root)
    assert isinstance(harness.sender, Reacting)
    await harness.sender.react(where, root, THUMB_UP)
    (part,) = harness.sender.render(reply("In the thread"))
    assert await harness.sender.send(part, thread) == await harness.sender.find(part, thread, datetime.now(UTC))
    await harness.act("say", text=marked("more"), thread_ts=root)
    await harness.channel.catch_up(datetime.now(UTC) - timedelta(hours=1))


async def _sent_back(harness: TelegramHarness) -> list[OutboundMessage]:
    """Return messages with the files that a person sent, by the references they came in with."""
    for kind in ("photo", "document"):
        await harness.act(kind, caption=marked("Look"))
        await harness.settled()
    return [reply("Here it is again", media=message.media) for message in harness.sink.messages]


async def _use_telegram(harness: TelegramHarness, message_id: str) -> None:
    assert isinstance(harness.sender, Reacting)
    await harness.sender.react(harness.address(), message_id, THUMB_UP)
    await harness.act("press", message_id=int(message_id), data="tok")
    await harness.settled()
    api = harness.channel._api  # type: ignore[attr-defined]
    await api.bot.set_chat_menu_button(menu_button=MenuButtonDefault())  # as an operator may by hand
    await setup_bot(api, "", "")
    await harness.act("say", text=marked("polled"))
    assert len(await api.get_updates(0, 1)) == 1
