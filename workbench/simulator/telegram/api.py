"""The Bot API over HTTP: https://core.telegram.org/bots/api#making-requests."""

from collections.abc import Callable
from functools import partial

from aiohttp import web

from workbench.simulator.base import ABOUT, Wire
from workbench.simulator.journal import Json
from workbench.simulator.telegram import editing, groups, reactions, sending, settings, shapes
from workbench.simulator.telegram.arguments import Arguments, read_arguments
from workbench.simulator.telegram.chats import find_chat
from workbench.simulator.telegram.errors import Refusal, bad_request, refused
from workbench.simulator.telegram.polling import Polling
from workbench.simulator.telegram.state import World
from workbench.simulator.telegram.webhooks import Webhooks

_MAX_DOWNLOAD = 20 * 1024 * 1024

type Method = Callable[[World, Arguments], Json]

METHODS: dict[str, Method] = {
    "getMe": lambda world, _: shapes.me(world),
    "getChat": lambda world, given: shapes.full_chat(find_chat(world, given)),
    "getChatMember": groups.get_chat_member,
    "getFile": lambda world, given: _get_file(world, given),
    "sendMessage": sending.send_message,
    "sendPhoto": partial(sending.send_media, kind="photo"),
    "sendDocument": partial(sending.send_media, kind="document"),
    "sendVoice": partial(sending.send_media, kind="voice"),
    "sendChatAction": sending.send_chat_action,
    "sendMessageDraft": sending.send_message_draft,
    "editMessageText": editing.edit_message_text,
    "editMessageReplyMarkup": editing.edit_message_reply_markup,
    "deleteMessage": editing.delete_message,
    "setMessageReaction": reactions.set_message_reaction,
    "answerCallbackQuery": editing.answer_callback_query,
    "setMyCommands": settings.set_my_commands,
    "getMyCommands": settings.get_my_commands,
    "deleteMyCommands": settings.delete_my_commands,
    "setMyDescription": partial(settings.set_words, name="description", limit=512),
    "getMyDescription": partial(settings.get_words, name="description"),
    "setMyShortDescription": partial(settings.set_words, name="short_description", limit=120),
    "getMyShortDescription": partial(settings.get_words, name="short_description"),
    "setChatMenuButton": settings.set_chat_menu_button,
    "getChatMenuButton": settings.get_chat_menu_button,
}
UPDATE_METHODS = ("getUpdates", "setWebhook", "deleteWebhook", "getWebhookInfo")
_SPELLING = {name.lower(): name for name in (*METHODS, *UPDATE_METHODS)}
ENDPOINTS = tuple(f"telegram.{name}" for name in (*METHODS, *UPDATE_METHODS))
"""The calls' names for fault rules and the journal, unknown methods aside."""


class Api:
    """Answer calls. The four methods about updates are here, the others in METHODS."""

    def __init__(self, wire: Wire, world: World, polling: Polling, webhooks: Webhooks) -> None:
        self._wire = wire
        self._world = world
        self._polling = polling
        self._webhooks = webhooks

    async def call(self, request: web.Request) -> web.Response:
        """Answer `/bot<token>/<method>`."""
        try:
            self._check_token(request.match_info["token"])
            given = await read_arguments(request)
            result, description = await self._run(request.match_info["method"], given)
        except Refusal as refusal:
            return refused(refusal)
        _note(request, given, result)
        answer: dict[str, Json] = {"ok": True, "result": result}
        return web.json_response(answer | ({"description": description} if description else {}))

    async def download(self, request: web.Request) -> web.Response:
        """Answer `/file/bot<token>/<path>`: https://core.telegram.org/bots/api#getfile."""
        try:
            self._check_token(request.match_info["token"])
        except Refusal as refusal:
            return refused(refusal)
        path = request.match_info["path"]
        file = next((file for file in self._world.files.values() if file.path == path), None)
        if file is None:
            return refused(Refusal(404, "Not Found"))
        return web.Response(body=file.data, content_type="application/octet-stream")

    def _check_token(self, token: str) -> None:
        if token == self._world.bot.bot_token:
            return
        number = token.partition(":")[0]
        if ":" not in token or len(token) > 80 or not number.isdecimal() or number.startswith("0"):
            # Server source, `ClientManager::send`.
            raise Refusal(401, "Unauthorized: invalid token specified")
        raise Refusal(401, "Unauthorized")

    async def _run(self, name: str, given: Arguments) -> tuple[Json, str]:
        match _SPELLING.get(name.lower(), ""):
            case "":
                # Methods are known by their names alone, in any case: server source, `on_cmd`.
                raise Refusal(404, "Not Found: method not found")
            case "getUpdates":
                return await self._polling.get_updates(given), ""
            case "setWebhook":
                return True, await self._webhooks.set_webhook(given)
            case "deleteWebhook":
                return True, await self._webhooks.delete_webhook(given)
            case "getWebhookInfo":
                return self._webhooks.get_webhook_info(), ""
            case method:
                return METHODS[method](self._world, given), ""


def endpoint_name(request: web.Request) -> str:
    """Name a call for fault rules and the journal: `telegram.sendMessage`."""
    method = request.match_info.get("method", "")
    return f"telegram.{_SPELLING.get(method.lower(), 'unknown')}"


def _get_file(world: World, given: Arguments) -> Json:
    if not given.text("file_id"):
        raise bad_request("file_id not specified")
    stored = world.files.get(given.text("file_id"))
    if stored is None:
        raise bad_request("invalid file_id")
    if len(stored.data) > _MAX_DOWNLOAD:
        raise bad_request("file is too big")
    return shapes.file(stored)


def _note(request: web.Request, given: Arguments, result: Json) -> None:
    """Tie the journal's line to the message it is about."""
    number: Json = result.get("message_id") if isinstance(result, dict) else None
    number = number or given.text("message_id")
    if number and given.text("chat_id"):
        request[ABOUT] = f"{given.text('chat_id')}:{number}"
