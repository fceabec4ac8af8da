"""The checks before every handler of the API: faults and journal, credentials, refusals as answers."""

import base64
import binascii
import hmac

from aiohttp import web

from workbench.simulator.base import Handler, Wire
from workbench.simulator.twilio.errors import Refusal, fault_answer

PREFIX = "/twilio"


class Guard:
    """Wrap handlers."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._config = wire.config.twilio

    def wrap(self, name: str, handler: Handler) -> Handler:
        """Return a handler that authenticates, refuses in Twilio's words, and is `twilio.<name>` in the journal."""

        async def run(request: web.Request) -> web.StreamResponse:
            try:
                self._authenticate(request)
                return await handler(request)
            except Refusal as refusal:
                realm = {"WWW-Authenticate": 'Basic realm="Twilio API"'} if refusal.status == 401 else None
                return refusal.answer(realm)

        return self._wire.endpoint(f"twilio.{name}", fault_answer)(run)

    def _authenticate(self, request: web.Request) -> None:
        # docs: errors/20003. The account in the path must belong to the credentials.
        scheme, _, packed = request.headers.get("Authorization", "").partition(" ")
        try:
            user, _, password = base64.b64decode(packed, validate=True).decode("utf-8").partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise Refusal(20003) from None
        if scheme.lower() != "basic" or user != self._config.account_sid:
            raise Refusal(20003)
        if not hmac.compare_digest(password.encode(), self._config.auth_token.encode()):
            raise Refusal(20003, "Authenticate")
        if request.match_info.get("account", user) != user:
            raise Refusal(20003, "Authenticate")


def not_found(request: web.Request) -> Refusal:
    """Return Twilio's 404 (docs: errors/20404)."""
    path = request.path.removeprefix(PREFIX)
    return Refusal(20404, f"The requested resource {path} was not found")
