"""The way in over Slack: events, gestures and commands, proven, parsed, committed, and only then acknowledged."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response

from channels.http.middleware import check_type, only_header
from channels.slack.ack import answer_gesture, elsewhere, publish_home
from channels.slack.body import FORM_TYPE, JSON_TYPE, decode_body
from channels.slack.bolt_app import BoltGateway, PayloadReply
from channels.slack.catchup import catch_up
from channels.slack.identity import Identity
from channels.slack.interactions import Gesture
from channels.slack.parse import Challenge, HomeOpened, SlackInput, SlashCommand, Unhandled
from channels.slack.sender_profiles import SenderProfiles
from channels.slack.setup import check_app, setup_app
from channels.slack.sockets import Pace, Sockets
from channels.slack.verify import is_signed
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.messaging.channels import WHOLE, Change, Check, InboundSink, Received, Sweep
from core.messaging.inbound import Amendment, Reaction
from core.messaging.messages import IgnoredMessage, InboundMessage, Press
from providers.slack.client import SlackApi
from providers.slack.wire import CHANNEL_NAME, REAL_API_URL, WEBHOOK_PATH

SIGNATURE_HEADER = "X-Slack-Signature"
TIMESTAMP_HEADER = "X-Slack-Request-Timestamp"

_log = structlog.get_logger()


class SlackChannel:
    """Accept people's messages and presses in a Slack app's direct messages.

    With `app_token` everything comes over Socket Mode and there is no route; without it over HTTP, signed with
    `signing_secret`. `account` is the team's id: empty until Slack has returned it, which is requested at start and
    again until it answers; until then messages are accepted under the team that their payload names. `now` is the
    machine's own time in Unix seconds, by which Slack's signatures age; `pace` is that of the sockets.
    """

    name = CHANNEL_NAME

    def __init__(
        self,
        *,
        bot_token: str,
        signing_secret: str = "",
        app_token: str = "",
        api_url: str = REAL_API_URL,
        public_url: str = "",
        sink: InboundSink,
        now: Callable[[], float] = time.time,
        pace: Pace | None = None,
    ) -> None:
        self._signing_secret = signing_secret
        self._app_token = app_token
        self._public_url = public_url.rstrip("/")
        self._sink = sink
        self._now = now
        self._api = SlackApi(bot_token=bot_token, api_url=api_url)
        self._identity = Identity(self._api)
        self._bolt = BoltGateway(self._api, self._identity, self._take)
        self._sockets = Sockets(self._api, self._bolt, app_token, pace or Pace()) if app_token else None
        self._profiles = SenderProfiles(self._api, sink)
        self._tasks: set[asyncio.Task[None]] = set()
        self.account = ""

    def routes(self) -> Sequence[web.RouteDef]:
        return () if self._app_token else (web.post(WEBHOOK_PATH, self._receive),)

    @property
    def stall(self) -> str:
        return "its socket is closed" if self._sockets is not None and not self._sockets.is_open else ""

    async def identify(self) -> None:
        self.account = (await self._identity.ask()).team

    async def start(self) -> None:
        self._spawn(self._learn())
        if self._sockets is not None:
            self._spawn(self._sockets.run())

    async def stop(self) -> None:
        if self._sockets is not None:
            await self._sockets.finish()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._api.close()

    async def catch_up(self, since: datetime, sweep: Sweep = WHOLE) -> int:
        return await catch_up(self._api, self._sink, self._identity.ours, since, sweep)

    async def setup(self) -> Sequence[Change]:
        return await setup_app(self._api, self._public_url, socket_mode=bool(self._app_token))

    async def check(self) -> Sequence[Check]:
        return await check_app(self._api, app_token=self._app_token)

    async def _learn(self) -> None:
        self.account = (await self._identity.learn()).team

    async def _receive(self, request: web.Request) -> web.Response:
        return await to_aiohttp_response(await self._bolt.dispatch(await self._proven(request)))

    async def _proven(self, request: web.Request) -> JsonObject:
        """Return the body of a request that is Slack's. Raises `RequestRefused`."""
        check_type(request, JSON_TYPE, FORM_TYPE)
        raw = await request.read()
        timestamp, signature = only_header(request, TIMESTAMP_HEADER), only_header(request, SIGNATURE_HEADER)
        if not is_signed(self._signing_secret, raw, timestamp, signature, self._now()):
            raise RequestRefused("signature does not match", status=403)
        return decode_body(raw, request.content_type)

    async def _take(self, payload: SlackInput) -> PayloadReply:
        """Commit a parsed payload; return a note for the person alone, or the errors in their form, by field."""
        match payload:
            case InboundMessage():
                self._identity.remember(payload.sender, payload.address.peer)
                await self._accept(payload)
            case IgnoredMessage() | Amendment() | Reaction():
                await self._accept(payload)
            case Gesture():
                return await self._take_gesture(payload)
            case SlashCommand():
                return await self._take_command(payload.message)
            case HomeOpened(user=user, tab="home", team=team):
                self._spawn(publish_home(self._api, self._sink, team, user))
            case Challenge() | HomeOpened():
                pass
            case Unhandled(kind=kind):
                _log.info("slack_kind_unhandled", kind=kind)
        return None

    async def _take_command(self, message: InboundMessage) -> str | None:
        """Move a command to our conversation with the person: it can be typed in any."""
        typed_in = message.address.peer
        peer = await self._identity.direct(message.sender)
        if not peer and not typed_in.startswith("D"):
            raise RequestRefused("the direct conversation is not known", status=503)
        address = replace(message.address, peer=peer or typed_in)
        await self._accept(replace(message, address=address))
        if address.peer == typed_in:
            return None
        return await elsewhere(self._sink, address.account, message.sender)

    async def _take_gesture(self, gesture: Gesture) -> PayloadReply:
        """Commit a press or a submitted form; its answer is shown without waiting for that."""
        press = gesture.press
        if press.address.peer:
            self._identity.remember(press.sender, press.address.peer)
        elif peer := await self._identity.direct(press.sender):
            press = replace(press, address=replace(press.address, peer=peer))
        else:
            raise RequestRefused("the direct conversation is not known", status=503)
        received = await self._accept(press)
        if received.said or received.form is not None:
            self._spawn(answer_gesture(self._api, self._sink, replace(gesture, press=press), received))
        return received.errors or None

    async def _accept(self, inbound: InboundMessage | Amendment | IgnoredMessage | Press | Reaction) -> Received:
        received = await self._sink.accept(inbound)
        # A stranger's message has no id of ours: no profile is requested for them.
        if isinstance(inbound, InboundMessage) and not received.duplicate and received.id not in inbound.keys:
            self._ask_who(inbound)
        return received

    def _ask_who(self, message: InboundMessage) -> None:
        team, user = message.address.account, message.sender
        if self._profiles.is_due(team, user):
            self._spawn(self._profiles.ask(team, user))

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
