"""The Web API under /slack/api/: read the call, check its token, run the method, answer as Slack does."""

import json
import re

from aiohttp import web

from workbench.simulator.base import ABOUT, Wire
from workbench.simulator.slack import assistant, chat, conversations, files, streams, team, views
from workbench.simulator.slack.errors import Refusal, fault_answer
from workbench.simulator.slack.method import Hub, Method, check_needed
from workbench.simulator.slack.shapes import Obj, obj, text

METHODS: dict[str, Method] = {
    **chat.METHODS,
    **streams.METHODS,
    **assistant.METHODS,
    **conversations.METHODS,
    **team.METHODS,
    **views.METHODS,
    **files.METHODS,
}


class Api:
    """Serve METHODS. `hub` holds the present world, which a reset replaces."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.hub: Hub | None = None

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the single route of all methods; fault rules name them `slack.chat.postMessage`."""
        names = [f"slack.{method}" for method in METHODS]
        wrap = self._wire.endpoint(lambda request: f"slack.{request.match_info['method']}", fault_answer, names)
        return [web.route("*", "/slack/api/{method}", wrap(self.serve))]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer a call; every refusal but a rate limit is HTTP 200."""
        if self.hub is None:
            raise web.HTTPServiceUnavailable
        name = request.match_info["method"]
        headers = {"x-oauth-scopes": ",".join(self.hub.world.switches.scopes), "x-slack-req-id": name}
        try:
            answer = await self._answer(self.hub, name, request)
        except Refusal as refusal:
            if refusal.retry_after:
                headers["Retry-After"] = str(refusal.retry_after)
                return web.json_response(refusal.body(), status=429, headers=headers)
            answer = refusal.body()
        return web.json_response(answer, headers=headers)

    async def _answer(self, hub: Hub, name: str, request: web.Request) -> Obj:
        method = METHODS.get(name)
        # apis/web-api: unknown_method; methods/apps.connections.open: insecure_request for anything but POST.
        if method is None:
            raise Refusal("unknown_method", extra={"req_method": name})
        if request.method not in ("GET", "POST"):
            raise web.HTTPMethodNotAllowed(request.method, ("GET", "POST"))
        if method.post_only and request.method != "POST":
            raise Refusal("insecure_request")
        arguments, token = await read_call(request, method)
        self._check_token(hub, method, token)
        request[ABOUT] = text(arguments.get("ts")) or text(arguments.get("thread_ts"))
        check_needed(method, arguments)
        answer = method.run(hub, arguments)
        request[ABOUT] = text(answer.get("ts")) or text(answer.get("message_ts")) or request[ABOUT]
        return answer

    def _check_token(self, hub: Hub, method: Method, token: str) -> None:
        # authentication/tokens; errors on every method's page: not_authed, invalid_auth and the like.
        slack, switches = hub.world.config.slack, hub.world.switches
        if not token:
            raise Refusal("not_authed")
        if token not in (slack.bot_token, slack.app_token):
            raise Refusal("invalid_auth")
        if method.app_token != (token == slack.app_token):
            raise Refusal("not_allowed_token_type")
        if switches.token != "ok":  # noqa: S105 - a state, not a token
            raise Refusal(switches.token)
        if method.scopes and not set(method.scopes) & set(switches.scopes):
            provided = ",".join(switches.scopes)
            raise Refusal("missing_scope", extra={"needed": ",".join(method.scopes), "provided": provided})


async def read_call(request: web.Request, method: Method) -> tuple[Obj, str]:
    """Read arguments and token: apis/web-api, "POST bodies".

    JSON bodies carry no token and only some methods read them; forms and queries may carry a token.
    """
    arguments: Obj = dict(request.query)
    bearer = re.fullmatch(r"Bearer (\S+)", request.headers.get("Authorization", ""))
    if request.method == "POST":
        kind = request.content_type
        if kind == "application/json":
            sent = _json_object(await request.read())
            arguments |= {key: value for key, value in sent.items() if key != "token"} if method.json else {}
        elif kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
            fields = await request.post()
            arguments |= {key: value for key, value in fields.items() if isinstance(value, str)}
        elif await request.read():
            raise Refusal("missing_post_type" if "Content-Type" not in request.headers else "invalid_post_type")
    token = text(arguments.pop("token", ""))
    return arguments, bearer.group(1) if bearer else token


def _json_object(body: bytes) -> Obj:
    try:
        value = json.loads(body.decode())
    except (ValueError, UnicodeDecodeError):
        raise Refusal("invalid_json") from None
    if not isinstance(value, dict):
        raise Refusal("json_not_object")
    return obj(value)
