"""The REST API 2010-04-01 under /twilio: authentication, routing, and the answers."""

from collections.abc import Callable
from functools import partial

from aiohttp import web

from workbench.simulator.base import ABOUT, Wire
from workbench.simulator.journal import Json
from workbench.simulator.twilio.create import make_message
from workbench.simulator.twilio.errors import Refusal
from workbench.simulator.twilio.forms import (
    CREATE_MESSAGE,
    LIST_MEDIA,
    LIST_MESSAGES,
    LIST_NUMBERS,
    UPDATE_MESSAGE,
    UPDATE_NUMBER,
    check_hooks,
    checked,
    read_form,
)
from workbench.simulator.twilio.guard import PREFIX, Guard, not_found
from workbench.simulator.twilio.paging import filtered, page_of
from workbench.simulator.twilio.resources import API, media_json, message_json, number_json, rfc2822
from workbench.simulator.twilio.state import FINAL, Message, PhoneNumber, Store


class Api:
    """The handlers. `sent` is called with each accepted message; `store` returns the present memory."""

    def __init__(self, wire: Wire, store: Callable[[], Store], sent: Callable[[Message], None]) -> None:
        self._wire = wire
        self._guard = Guard(wire)
        self._config = wire.config.twilio
        self._store = store
        self._sent = sent
        self._shown_message = partial(message_json, self._config.account_sid)
        self._shown_number = partial(number_json, self._config.account_sid)
        self._shown_media = partial(media_json, self._config.account_sid)

    def routes(self) -> list[web.AbstractRouteDef]:
        base, wrap = f"{PREFIX}{API}/Accounts/{{account}}", self._guard.wrap
        message, number = f"{base}/Messages/{{sid}}", f"{base}/IncomingPhoneNumbers/{{sid}}.json"
        return [
            web.post(f"{base}/Messages.json", wrap("messages.create", self.create_message)),
            web.get(f"{base}/Messages.json", wrap("messages.list", self.list_messages)),
            web.get(f"{message}/Media.json", wrap("media.list", self.list_media)),
            web.get(f"{message}/Media/{{media}}", wrap("media.fetch", self.fetch_media)),
            web.get(f"{message}.json", wrap("messages.fetch", self.fetch_message)),
            web.post(f"{message}.json", wrap("messages.update", self.update_message)),
            web.delete(f"{message}.json", wrap("messages.delete", self.delete_message)),
            web.get(f"{base}/IncomingPhoneNumbers.json", wrap("numbers.list", self.list_numbers)),
            web.get(number, wrap("numbers.fetch", self.fetch_number)),
            web.post(number, wrap("numbers.update", self.update_number)),
            web.get(f"{base}/Balance.json", wrap("balance.fetch", self.balance)),
            web.get(f"{base}.json", wrap("account.fetch", self.account)),
            # The target of a media URL: valid without a password, as the real target is for four hours.
            web.get(f"{PREFIX}/media/{{media}}", self.file),
            web.route("*", f"{PREFIX}/{{tail:.*}}", wrap("unknown", self.unknown)),
        ]

    async def create_message(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, CREATE_MESSAGE)
        account, store = self._config.account_sid, self._store()
        message = make_message(form, store, account, self._wire.now(), self._wire.public_url)
        store.messages[message.sid] = message
        request[ABOUT] = message.sid
        answer = web.json_response(message_json(account, message), status=201)
        self._sent(message)
        return answer

    async def list_messages(self, request: web.Request) -> web.StreamResponse:
        form = checked(request.query_string, LIST_MESSAGES)
        rows = filtered(self._store().newest_first(), form)
        uri = f"{API}/Accounts/{self._config.account_sid}/Messages.json"
        return web.json_response(page_of(rows, form, uri, "messages", lambda row: row.sid, self._shown_message))

    async def fetch_message(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(self._shown_message(self._message(request)))

    async def update_message(self, request: web.Request) -> web.StreamResponse:
        """Redact or cancel (docs: message-resource, update; errors/20009 and 30409)."""
        message = self._message(request)
        form = await read_form(request, UPDATE_MESSAGE)
        if form.has("Status"):
            if form.one("Status") != "canceled":
                raise Refusal(20001, "Invalid value for Status")
            raise Refusal(30409)
        if not form.has("Body") or form.one("Body"):
            raise Refusal(20001, "Body must be empty: a message can only be redacted")
        if message.status not in FINAL:
            raise Refusal(20009)
        message.body, message.updated = "", self._wire.now()
        return web.json_response(self._shown_message(message))

    async def delete_message(self, request: web.Request) -> web.StreamResponse:
        """Delete a message with a final status (docs: errors/20009)."""
        message = self._message(request)
        if message.status not in FINAL:
            raise Refusal(20009)
        del self._store().messages[message.sid]
        return web.Response(status=204)

    async def list_media(self, request: web.Request) -> web.StreamResponse:
        message = self._message(request)
        form = checked(request.query_string, LIST_MEDIA)
        uri = f"{API}/Accounts/{self._config.account_sid}/Messages/{message.sid}/Media.json"
        show = partial(self._shown_media, message)
        return web.json_response(page_of(message.media, form, uri, "media_list", lambda row: row.sid, show))

    async def fetch_media(self, request: web.Request) -> web.StreamResponse:
        """Describe a file (.json), or lead to its bytes (docs: messaging/api/media-resource)."""
        message = self._message(request)
        wanted = request.match_info["media"]
        media = next((item for item in message.media if item.sid == wanted.removesuffix(".json")), None)
        if media is None:
            raise not_found(request)
        if wanted.endswith(".json"):
            return web.json_response(self._shown_media(message, media))
        target = media.url or f"{self._wire.url}{PREFIX}/media/{media.sid}"
        return web.Response(status=307, headers={"Location": target})

    async def file(self, request: web.Request) -> web.StreamResponse:
        for message in self._store().messages.values():
            for media in message.media:
                if media.sid == request.match_info["media"] and not media.url:
                    return web.Response(body=media.data, content_type=media.content_type)
        return web.Response(status=404)

    async def list_numbers(self, request: web.Request) -> web.StreamResponse:
        form = checked(request.query_string, LIST_NUMBERS)
        rows = [
            number
            for number in self._store().numbers.values()
            if form.one("PhoneNumber") in number.number
            and (not form.has("FriendlyName") or number.settings["FriendlyName"] == form.one("FriendlyName"))
        ]
        uri = f"{API}/Accounts/{self._config.account_sid}/IncomingPhoneNumbers.json"
        key = "incoming_phone_numbers"
        return web.json_response(page_of(rows, form, uri, key, lambda row: row.sid, self._shown_number))

    async def fetch_number(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(self._shown_number(self._number(request)))

    async def update_number(self, request: web.Request) -> web.StreamResponse:
        """Set a number's webhooks (docs: phone-numbers/api/incomingphonenumber-resource)."""
        number = self._number(request)
        form = await read_form(request, UPDATE_NUMBER)
        check_hooks(form, self._wire.public_url)
        number.settings.update({name: form.one(name) for name in form.values})
        number.updated = self._wire.now()
        return web.json_response(self._shown_number(number))

    async def balance(self, _: web.Request) -> web.StreamResponse:
        """Return the remainder of 20 dollars."""
        spent = sum(float(message.price or 0) for message in self._store().messages.values())
        shown = {"account_sid": self._config.account_sid, "balance": f"{20 + spent:.4f}", "currency": "USD"}
        return web.json_response(shown)

    async def account(self, _: web.Request) -> web.StreamResponse:
        sid = self._config.account_sid
        shown: dict[str, Json] = {
            "auth_token": self._config.auth_token,
            "date_created": rfc2822(0),
            "date_updated": rfc2822(0),
            "friendly_name": "Simulator",
            "owner_account_sid": sid,
            "sid": sid,
            "status": "active",
            "subresource_uris": {"messages": f"{API}/Accounts/{sid}/Messages.json"},
            "type": "Full",
            "uri": f"{API}/Accounts/{sid}.json",
        }
        return web.json_response(shown)

    async def unknown(self, request: web.Request) -> web.StreamResponse:
        raise not_found(request)

    def _message(self, request: web.Request) -> Message:
        message = self._store().messages.get(request.match_info["sid"])
        if message is None:
            raise not_found(request)
        request[ABOUT] = message.sid
        return message

    def _number(self, request: web.Request) -> PhoneNumber:
        number = self._store().number_by_sid(request.match_info["sid"])
        if number is None:
            raise not_found(request)
        return number
