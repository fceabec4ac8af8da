"""The way in over Telegram: updates proven or polled, parsed, committed, and only then acknowledged."""

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import datetime

import structlog
from aiohttp import web
from telegram.error import TelegramError

from channels.http.middleware import check_type, json_object, only_header
from channels.poll_lease import PollLease
from channels.telegram.ack import acknowledge
from channels.telegram.catchup import catch_up
from channels.telegram.parse import (
    CHANNEL,
    BotIdentity,
    ignore_update,
    may_mention,
    parse_update,
    read_update_id,
)
from channels.telegram.poll import Poller
from channels.telegram.setup import check_bot, setup_bot
from channels.telegram.verify import is_secret
from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError, RequestRefused
from core.ids import make_id
from core.json_types import JsonObject
from core.messaging.channels import WHOLE, Change, Check, InboundSink, Sweep
from core.messaging.messages import IgnoreReason
from providers.telegram.client import UPDATES_BYTES, TelegramApi
from providers.telegram.errors import describe
from providers.telegram.wire import REAL_API_URL

WEBHOOK_PATH = "/webhooks/telegram"
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - a header's name

_GRACE = 2.0
_log = structlog.get_logger()


class TelegramChannel:
    """Accept people's messages to a bot: over a webhook if it has a secret, else by long polling.

    `api_url` is an origin and may carry a path prefix; `public_url` is how Telegram reaches us, without a path.
    Polling needs `database`, for its lease.
    """

    name = CHANNEL

    def __init__(
        self,
        *,
        bot_token: str,
        webhook_secret: str = "",
        api_url: str = REAL_API_URL,
        public_url: str = "",
        sink: InboundSink,
        database: Database | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.account = bot_token.partition(":")[0]
        self._bot = BotIdentity(self.account)
        self._is_named = False
        self._secret = webhook_secret
        self._webhook = public_url.rstrip("/") + WEBHOOK_PATH if webhook_secret else ""
        self._sink = sink
        self._api = TelegramApi(bot_token=bot_token, api_url=api_url, max_bytes=UPDATES_BYTES)
        self._lease = (
            PollLease(database, channel=CHANNEL, account=self.account, owner=make_id("poll")) if database else None
        )
        self._poller: Poller | None = None
        self._clock = clock or Clock()
        self._tasks: set[asyncio.Task[None]] = set()

    def routes(self) -> Sequence[web.RouteDef]:
        return (web.post(WEBHOOK_PATH, self._receive),) if self._secret else ()

    @property
    def stall(self) -> str:
        return self._poller.stall if self._poller is not None else ""

    async def identify(self) -> None: ...

    async def start(self) -> None:
        self._spawn(self._learn_name())
        if not self._secret:
            if self._lease is None:
                raise ConfigError("Telegram's long polling needs a database: set DATABASE_URL.")
            self._poller = Poller(self._api, self._lease, self._take_polled, self._leave_out, self._clock)
            self._spawn(self._poller.run())

    async def stop(self) -> None:
        if self._poller is not None:
            self._poller.stop()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_GRACE)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._api.close()

    async def catch_up(self, since: datetime, sweep: Sweep = WHOLE) -> int:
        return await catch_up(since)

    async def setup(self) -> Sequence[Change]:
        return await setup_bot(self._api, self._webhook, self._secret)

    async def check(self) -> Sequence[Check]:
        return await check_bot(self._api, self._webhook, self._lease)

    async def _receive(self, request: web.Request) -> web.Response:
        if not is_secret(self._secret, only_header(request, SECRET_HEADER)):
            raise RequestRefused("secret does not match", status=403)
        check_type(request, "application/json")
        await self._take(json_object(await request.read()))
        return web.Response()  # never a method in the answer: Telegram would not report its result

    async def _take(self, update: JsonObject) -> None:
        """Commit an update; then acknowledge a press, without waiting for that."""
        if not self._is_named and may_mention(update):
            await self._learn_name()
            if not self._is_named:  # Telegram brings it again
                raise RequestRefused("our @name is not known", status=503)
        parsed = parse_update(update, self._bot)
        received = await self._sink.accept(parsed.inbound)
        if parsed.query:
            self._spawn(acknowledge(self._api, parsed.query, received.said))

    async def _take_polled(self, update: JsonObject) -> None:
        """Commit an update; an unreadable update is recorded, since it is not sent again."""
        try:
            await self._take(update)
        except RequestRefused as error:
            if error.status >= 500:
                raise
            _log.warning("update_not_readable", update=read_update_id(update), reason=error.reason)
            await self._sink.accept(ignore_update(update, self._bot))

    async def _leave_out(self, update: JsonObject) -> None:
        """Record an update that fails again and again."""
        await self._sink.accept(ignore_update(update, self._bot, IgnoreReason.BROKEN))

    async def _learn_name(self) -> None:
        """Request our @name, by which mentions are known; until then all commands in direct chats are ours."""
        try:
            name = await self._api.get_username()
        except TelegramError as error:
            _log.warning("bot_name_unknown", reason=describe(error))
            return
        self._bot, self._is_named = BotIdentity(self.account, name), True

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
