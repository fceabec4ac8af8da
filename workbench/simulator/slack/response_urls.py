"""The response_url of interactions and commands: interactivity/handling-user-interaction, "response_url"."""

import json

from aiohttp import web

from workbench.simulator.base import ABOUT
from workbench.simulator.slack import limits
from workbench.simulator.slack.chat import remove, show
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.interactions import say
from workbench.simulator.slack.message_rules import check_content
from workbench.simulator.slack.method import Hub
from workbench.simulator.slack.records import message_record
from workbench.simulator.slack.shapes import Obj, obj
from workbench.simulator.slack.state import Message, ResponseUrl


async def respond(hub: Hub, request: web.Request) -> web.StreamResponse:
    """Accept an answer: 200 "ok", or 404 with used_url or expired_url, or 400 for a bad message."""
    url = hub.world.response_urls.get(request.match_info["token"])
    if url is None or hub.world.now() - url.at > limits.RESPONSE_URL_SECONDS:
        return web.json_response({"ok": False, "error": "expired_url"}, status=404)
    if url.uses >= limits.RESPONSE_URL_USES:
        return web.json_response({"ok": False, "error": "used_url"}, status=404)
    try:
        answer = obj(json.loads(await request.read()))
    except ValueError:
        return web.json_response({"ok": False, "error": "invalid_payload"}, status=400)
    request[ABOUT] = url.message_ts
    try:
        _apply(hub, url, answer)
    except Refusal as refusal:
        return web.json_response(refusal.body(), status=400)
    url.uses += 1
    return web.Response(text="ok")


def _apply(hub: Hub, url: ResponseUrl, answer: Obj) -> None:
    original = _original(hub, url)
    if answer.get("delete_original") is True:
        if original is not None:
            if original.ephemeral_for:
                hub.world.channels[url.channel].ephemeral.remove(original)
            else:
                remove(hub, original)
        return
    if answer.get("replace_original") is not True or original is None:
        say(hub, url.channel, url.user, answer)
        return
    before = message_record(hub.world, original)
    show(original, check_content(answer))
    if not original.ephemeral_for:
        original.edited_by, original.edited_ts = original.user, hub.world.next_ts()
        hub.deliverer.changed(original, before)


def _original(hub: Hub, url: ResponseUrl) -> Message | None:
    channel = hub.world.channels[url.channel]
    seen = [*channel.messages.values(), *channel.ephemeral]
    return next((message for message in seen if message.ts == url.message_ts), None)
