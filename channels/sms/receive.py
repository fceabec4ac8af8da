"""The way in over SMS: Twilio's webhooks, proven, parsed, committed, and only then acknowledged."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from aiohttp import web

from channels.http.middleware import check_type, only_header
from channels.sms.parse import decode_form, parse_message, parse_status
from channels.sms.texts import CHANNEL, Account
from channels.sms.verify import FormPairs, is_signed
from core.errors import RequestRefused
from core.messaging.channels import WHOLE, Change, Check, InboundSink, Sweep
from providers.sms.wire import MESSAGE_PATH, REAL_API_URL, STATUS_PATH

if TYPE_CHECKING:
    from channels.sms.setup import Webhooks
    from providers.sms.client import TwilioApi

LIST_SECONDS = 30.0
"""Bounds each call of setup and catch-up: a page of the message list is long."""
SIGNATURE_HEADER = "X-Twilio-Signature"

_EMPTY_TWIML = '<?xml version="1.0" encoding="UTF-8"?><Response/>'


class SmsChannel:
    """Accept texts and delivery statuses of a Twilio sender.

    `sender` is an E.164 number or a Messaging Service SID; `public_url` is our address for Twilio, without a path of
    ours; `api_url` is an origin and may carry a path prefix. `carrier_answers`: Twilio answers STOP, START and HELP
    itself; otherwise we do.
    """

    name = CHANNEL

    def __init__(
        self,
        *,
        account_sid: str,
        auth_token: str,
        sender: str,
        public_url: str,
        api_url: str = REAL_API_URL,
        carrier_answers: bool = True,
        sink: InboundSink,
    ) -> None:
        self.account = sender
        self._account = Account(sid=account_sid, sender=sender, carrier_answers=carrier_answers)
        self._auth_token = auth_token
        self._public_url = public_url.rstrip("/")
        self._sink = sink
        self._api_url = api_url

    def routes(self) -> Sequence[web.RouteDef]:
        return (web.post(MESSAGE_PATH, self._receive_message), web.post(STATUS_PATH, self._receive_status))

    async def identify(self) -> None: ...

    async def start(self) -> None: ...

    async def stop(self) -> None:
        if "_api" in self.__dict__:
            await self._api.close()

    # Twilio's SDK is loaded only by callers of Twilio: a web process never calls it, and saves twelve megabytes.

    async def catch_up(self, since: datetime, sweep: Sweep = WHOLE) -> int:
        from channels.sms.catchup import catch_up

        return await catch_up(self._api, self._account, self._sink, since, sweep)

    async def setup(self) -> Sequence[Change]:
        from channels.sms.setup import setup_sender

        return await setup_sender(self._api, self._account, self._webhooks)

    async def check(self) -> Sequence[Check]:
        from channels.sms.setup import check_sender

        return await check_sender(self._api, self._account, self._webhooks)

    @cached_property
    def _api(self) -> "TwilioApi":
        from providers.sms.client import TwilioApi

        return TwilioApi(
            account_sid=self._account.sid,
            auth_token=self._auth_token,
            api_url=self._api_url,
            total=LIST_SECONDS,
        )

    @property
    def _webhooks(self) -> "Webhooks":
        from channels.sms.setup import Webhooks

        return Webhooks(self._public_url + MESSAGE_PATH, self._public_url + STATUS_PATH)

    async def _receive_message(self, request: web.Request) -> web.Response:
        pairs = await self._proven(request)
        for inbound in parse_message(pairs, self._account):
            await self._sink.accept(inbound)
        return web.Response(text=_EMPTY_TWIML, content_type="text/xml")

    async def _receive_status(self, request: web.Request) -> web.Response:
        pairs = await self._proven(request)
        update = parse_status(pairs, decode_form(request.raw_path.partition("?")[2].encode()), self._account)
        if update is not None:
            await self._sink.accept(update)
        return web.Response(text=_EMPTY_TWIML, content_type="text/xml")

    async def _proven(self, request: web.Request) -> FormPairs:
        """Return the form of a request that is Twilio's. Raises `RequestRefused`."""
        check_type(request, "application/x-www-form-urlencoded")
        pairs = decode_form(await request.read())
        signature = only_header(request, SIGNATURE_HEADER)
        # Never the Host header or X-Forwarded-*: the public URL is configured.
        if not is_signed(self._auth_token, self._public_url + request.raw_path, pairs, signature):
            raise RequestRefused("signature does not match", status=403)
        return pairs
