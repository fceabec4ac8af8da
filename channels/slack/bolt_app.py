"""Bolt's App around the inbox: a parsed payload goes to a listener, and is acknowledged when that returns.

With `process_before_response` bolt runs the listener first; without it, bolt acknowledges an event before the
listener has even begun.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from channels.slack.identity import Identity
from channels.slack.parse import SlackInput, Unhandled, parse
from core.errors import RequestRefused
from core.json_types import JsonObject
from providers.slack.client import SlackApi

type PayloadReply = str | Mapping[str, str] | None
"""A note for the person alone, or the errors in their form, by field."""
type Take = Callable[[SlackInput], Awaitable[PayloadReply]]
"""Commit a parsed payload; return a note that is shown to the person alone at once, mostly none."""

_ANYTHING = re.compile("")


class BoltGateway:
    """Parse a payload, hand it to `take`, and return the acknowledgement."""

    def __init__(self, api: SlackApi, identity: Identity, take: Take) -> None:
        self._api = api
        self._identity = identity
        self._take = take
        self._app = self._make_app()

    async def dispatch(self, body: JsonObject) -> BoltResponse:
        """Handle a payload, from a webhook or a socket.

        Raises `RequestRefused` if it is malformed, and the errors of `take`.
        """
        parsed = parse(body, self._identity.ours)
        if isinstance(parsed, Unhandled):
            await self._take(parsed)
            return BoltResponse(status=200, body="")
        try:
            # The mode of sockets for webhooks too: the body is decoded, and its origin proven.
            request = AsyncBoltRequest(body=body, mode="socket_mode", context={"parsed": parsed})
        except (TypeError, AttributeError, KeyError, IndexError, ValueError) as error:
            raise RequestRefused("bolt cannot read it") from error
        response = await self._app.async_dispatch(request)
        failure = request.context.get("failure")
        if isinstance(failure, BaseException):
            raise failure
        return response

    def _make_app(self) -> AsyncApp:
        app = AsyncApp(
            name="onevalet",
            logger=self._api.logger,
            client=self._api.client,
            process_before_response=True,
            signing_secret="",  # proven before, by `verify`
            authorize=_authorize_as(self._identity, self._api.client.token or ""),
            request_verification_enabled=False,
            ssl_check_enabled=False,
            ignoring_self_events_enabled=False,  # ours are recorded as ignored
            attaching_function_token_enabled=False,
            attaching_conversation_kwargs_enabled=False,
        )
        for kind in (app.event, app.action, app.view, app.command):
            kind(_ANYTHING)(self._listen)
        app.error(_keep_failure)
        return app

    async def _listen(self, context: AsyncBoltContext, ack: AsyncAck) -> None:
        answer = await self._take(context["parsed"])
        match answer:
            case str():
                await ack(text=answer, response_type="ephemeral")
            case None:
                await ack()
            case _:  # the form stays open, with all that was typed
                await ack(response_action="errors", errors=dict(answer))


def _authorize_as(identity: Identity, token: str) -> Callable[..., Awaitable[AuthorizeResult]]:
    """Name our own bot without asking Slack: bolt would call auth.test within the three seconds."""

    async def authorize(team_id: str | None, enterprise_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_token=token,
            bot_user_id=identity.ours.bot_user,
            bot_id=identity.ours.bot_id,
        )

    return authorize


async def _keep_failure(error: Exception, context: dict[str, Any]) -> None:
    """Carry an error out of bolt, which would log it with the payload and answer 500."""
    context["failure"] = error
