"""A small scripted gateway: it answers each channel so that everything the page can draw is to be seen."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import web

from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock

MARKDOWN = """**Tomorrow** has _two_ things:

1. 09:30 `stand-up`
2. 14:00 lunch with [Grace](https://example.com)

> Bring the slides."""
CARD = "Send an email to grace@example.com?\nSubject: *Lunch* at 1pm"


class ScriptedGateway:
    """Takes everything in with 200, unless `refuses`; answers through the emulated APIs."""

    def __init__(self) -> None:
        self.refuses = False
        self.status_seen = asyncio.Event()
        """Until it is set, an answer in a thread is thought about."""
        self.files: dict[str, tuple[bytes, str]] = {}
        """What lies under /files/: bytes and their type."""
        self._simulator: Simulator | None = None
        self._http: aiohttp.ClientSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self, config: SimulatorConfig | None = None, port: int = 0) -> AsyncIterator[Simulator]:
        """Serve the simulator and this gateway, told of each other."""
        app = web.Application()
        app.router.add_post("/webhooks/{channel}", self._take)
        app.router.add_post("/webhooks/{channel}/status", self._status)
        app.router.add_get("/files/{name}", self._file)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            async with (
                serve_simulator(config or SimulatorConfig(), SystemClock(), port=port) as simulator,
                aiohttp.ClientSession() as self._http,
            ):
                self._simulator = simulator
                simulator.wire.connect_gateway(url)
                await self._set_up(url)
                yield simulator
                await asyncio.gather(*self._tasks)
        finally:
            await runner.cleanup()

    async def _set_up(self, url: str) -> None:
        commands = [
            {"command": "new", "description": "Begin anew"},
            {"command": "help", "description": "What I can do"},
        ]
        await self.telegram("setMyDescription", description="Your assistant: ask, and it is done.")
        await self.telegram("setMyCommands", commands=commands)
        await self.telegram("setWebhook", url=f"{url}/webhooks/telegram", secret_token="page-secret")

    async def _status(self, _: web.Request) -> web.Response:
        return web.Response()

    async def _file(self, request: web.Request) -> web.Response:
        body, kind = self.files[request.match_info["name"]]
        return web.Response(body=body, content_type=kind)

    async def _take(self, request: web.Request) -> web.StreamResponse:
        if self.refuses:
            return web.Response(status=503)
        channel, body = request.match_info["channel"], await request.read()
        form = {name: str(value) for name, value in (await request.post()).items()}
        if channel == "slack" and form.get("command"):
            return web.json_response({"text": f"You typed `{form['text']}`."})
        if channel == "slack" and "view_submission" in form.get("payload", ""):
            return self._submitted(json.loads(form["payload"]))
        work = {"sms": self._sms, "slack": self._slack, "telegram": self._telegram}[channel]
        task = asyncio.create_task(work(form or json.loads(body)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return web.Response()

    async def text(self, body: str, to: str = "+14155550101", media: str = "") -> None:
        """Send a text."""
        assert self._simulator is not None
        assert self._http is not None
        twilio = self._simulator.wire.config.twilio
        callback = f"{self._simulator.wire.gateway_url}/webhooks/sms/status"
        form = {"From": twilio.number, "To": to, "Body": body, "StatusCallback": callback}
        auth = {"Authorization": aiohttp.encode_basic_auth(twilio.account_sid, twilio.auth_token)}
        path = f"{self._simulator.twilio_url}/2010-04-01/Accounts/{twilio.account_sid}/Messages.json"
        async with self._http.post(path, data=form | ({"MediaUrl": media} if media else {}), headers=auth) as answer:
            await answer.read()

    async def slack(self, method: str, **values: object) -> dict[str, Any]:
        """Call Slack's API."""
        assert self._simulator is not None
        assert self._http is not None
        headers = {"Authorization": f"Bearer {self._simulator.wire.config.slack.bot_token}"}
        async with self._http.post(self._simulator.slack_url + method, json=values, headers=headers) as answer:
            body: dict[str, Any] = await answer.json()
        assert body["ok"], body
        return body

    async def telegram(self, method: str, **values: object) -> Any:
        """Call the Bot API."""
        assert self._simulator is not None
        assert self._http is not None
        token = self._simulator.wire.config.telegram.bot_token
        async with self._http.post(f"{self._simulator.telegram_url}/bot{token}/{method}", json=values) as answer:
            body = await answer.json()
        assert body["ok"], body
        return body["result"]

    async def _sms(self, form: dict[str, Any]) -> None:
        if form.get("OptOutType"):
            return
        await self.text(f"You said: {form['Body']}", form["From"])

    async def _slack(self, answer: dict[str, Any]) -> None:
        if "payload" in answer:
            await self._pressed(json.loads(answer["payload"]))
            return
        event = answer["event"]
        if event["type"] == "app_home_opened" and event["tab"] == "home":
            await self.slack("views.publish", user_id=event["user"], view=home())
        if event["type"] != "message" or event.get("bot_id") or event.get("subtype") not in (None, "file_share"):
            return
        where = {"channel": event["channel"]}
        if event.get("thread_ts"):
            await self._in_thread(where | {"thread_ts": event["thread_ts"]})
        elif "card" in event["text"]:
            await self.slack("chat.postMessage", **where, text="Send an email?", blocks=card(CARD))
        elif "tomorrow" in event["text"]:
            blocks = [{"type": "markdown", "text": MARKDOWN}]
            await self.slack("chat.postMessage", **where, text="Tomorrow has two things.", blocks=blocks)
        else:
            await self.slack("chat.postMessage", **where, text=f"You said: *{event['text']}*")

    async def _in_thread(self, where: dict[str, str]) -> None:
        place = {"channel_id": where["channel"], "thread_ts": where["thread_ts"]}
        await self.slack("assistant.threads.setStatus", **place, status="is looking at your calendar…")
        await self.status_seen.wait()
        ts = (await self.slack("chat.startStream", **where, markdown_text="Looking: "))["ts"]
        for word in ("you are ", "**free** ", "all ", "afternoon."):
            await asyncio.sleep(0.1)
            await self.slack("chat.appendStream", channel=where["channel"], ts=ts, markdown_text=word)
        await self.slack("chat.stopStream", channel=where["channel"], ts=ts)

    async def _pressed(self, payload: dict[str, Any]) -> None:
        if payload["type"] != "block_actions":
            return
        action = payload["actions"][0]["action_id"]
        if action == "edit":
            view = modal(payload["message"]["ts"])
            await self.slack("views.open", trigger_id=payload["trigger_id"], view=view)
        elif "message" in payload:
            done = {"approve": "Approved. The email is on its way.", "cancel": "Cancelled."}[action]
            place = {"channel": payload["channel"]["id"], "ts": payload["message"]["ts"]}
            await self.slack("chat.update", **place, text=done, blocks=[section(CARD), context(done)])

    def _submitted(self, payload: dict[str, Any]) -> web.Response:
        value = payload["view"]["state"]["values"]["subject"]["subject"]["value"]
        if not value or len(value) < 4:
            return web.json_response({"response_action": "errors", "errors": {"subject": "Say a little more."}})
        return web.Response()

    async def _telegram(self, update: dict[str, Any]) -> None:
        if query := update.get("callback_query"):
            place = {"chat_id": query["message"]["chat"]["id"], "message_id": query["message"]["message_id"]}
            await self.telegram("answerCallbackQuery", callback_query_id=query["id"], text="Decided.")
            bold = {"type": "bold", "offset": 0, "length": 9}
            await self.telegram("editMessageText", **place, text="Approved. It is on its way.", entities=[bold])
            return
        message = update.get("message")
        if message is None:
            return
        where = {"chat_id": message["chat"]["id"]}
        await self.telegram("sendChatAction", **where, action="typing")
        await asyncio.sleep(0.4)
        text = message.get("text", "")
        if "card" in text:
            keys = [[{"text": name, "callback_data": f"7K:{name}"} for name in ("Approve", "Edit", "Cancel")]]
            shown = "Send an email to grace@example.com?\nSubject: Lunch at 1pm\nCode 7K"
            marks = [
                {"type": "bold", "offset": 0, "length": 13},
                {"type": "italic", "offset": 36, "length": 21},
                {"type": "code", "offset": 63, "length": 2},
            ]
            keyboard = {"inline_keyboard": keys}
            await self.telegram("sendMessage", **where, text=shown, entities=marks, reply_markup=keyboard)
        elif text:
            reply = {"message_id": message["message_id"]} if "quote" in text else None
            extra = {"reply_parameters": reply} if reply else {}
            if "question" in text:
                extra["reply_markup"] = {"force_reply": True, "input_field_placeholder": "Your answer"}
            await self.telegram("sendMessage", **where, text=f"You said: {text}", **extra)
        else:
            await self.telegram("sendMessage", **where, text="Thank you for the file.")


def section(text: str) -> dict[str, Any]:
    """Make a section in mrkdwn."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def context(text: str) -> dict[str, Any]:
    """Make a context line."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text}]}


def button(name: str, style: str = "") -> dict[str, Any]:
    """Make a button."""
    made = {"type": "button", "action_id": name.lower(), "text": {"type": "plain_text", "text": name}, "value": "7K"}
    return made | ({"style": style} if style else {})


def card(text: str) -> list[dict[str, Any]]:
    """Make an approval card."""
    buttons = [button("Approve", "primary"), button("Edit"), button("Cancel", "danger")]
    header = {"type": "header", "text": {"type": "plain_text", "text": "Approval needed"}}
    return [header, section(text), {"type": "actions", "elements": buttons}, context("Code *7K*, for 24 hours")]


def modal(about: str) -> dict[str, Any]:
    """Make a modal with two fields."""
    subject = {"type": "plain_text_input", "action_id": "subject", "initial_value": "Lunch at 1pm"}
    options = [{"text": {"type": "plain_text", "text": label}, "value": label} for label in ("Now", "Tomorrow")]
    when = {"type": "static_select", "action_id": "when", "options": options, "initial_option": options[0]}
    return {
        "type": "modal",
        "private_metadata": about,
        "title": {"type": "plain_text", "text": "Edit the email"},
        "submit": {"type": "plain_text", "text": "Save"},
        "close": {"type": "plain_text", "text": "Back"},
        "blocks": [
            {
                "type": "input",
                "block_id": "subject",
                "label": {"type": "plain_text", "text": "Subject"},
                "element": subject,
            },
            {"type": "input", "block_id": "when", "label": {"type": "plain_text", "text": "When"}, "element": when},
        ],
    }


def home() -> dict[str, Any]:
    """Make an App Home."""
    header = {"type": "header", "text": {"type": "plain_text", "text": "Good evening, Ada"}}
    more = [section("*Timezone*\nEurope/London"), section("*Waiting*\n1 approval")]
    return {"type": "home", "blocks": [header, *more, {"type": "actions", "elements": [button("Pause")]}]}
