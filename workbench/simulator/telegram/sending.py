"""sendMessage and its siblings: https://core.telegram.org/bots/api#sendmessage."""

from workbench.simulator.journal import Json
from workbench.simulator.telegram import shapes
from workbench.simulator.telegram.arguments import Arguments
from workbench.simulator.telegram.chats import check_not_blocked, check_thread, find_chat
from workbench.simulator.telegram.entities import FormattedText
from workbench.simulator.telegram.errors import Refusal, bad_request
from workbench.simulator.telegram.fields import integer_field
from workbench.simulator.telegram.formatting import MAX_CAPTION, check_length, read_text
from workbench.simulator.telegram.keyboards import read_markup
from workbench.simulator.telegram.photos import photo_problem
from workbench.simulator.telegram.state import PRIVATE, Chat, Draft, Message, StoredFile, World

_ACTIONS = frozenset(
    {
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
        "record_audio",
        "upload_audio",
        "pick_up_location",
        "cancel",
    }
)
_ACTION_SHOWN = 5.0  # https://core.telegram.org/bots/api#sendchataction
_DRAFT_SHOWN = 30.0  # https://core.telegram.org/bots/api#sendmessagedraft
_MEGABYTE = 1024 * 1024
_MAX_UPLOAD = {"photo": 10 * _MEGABYTE, "document": 50 * _MEGABYTE, "voice": 50 * _MEGABYTE}
_FOLDERS = {"photo": "photos", "document": "documents", "voice": "voice"}


def send_message(world: World, given: Arguments) -> dict[str, Json]:
    if not given.text("text"):
        raise bad_request("message text is empty")
    text = read_text(given)
    reply, keyboard = _read_reply(given), read_markup(given)
    chat = find_chat(world, given)
    check_thread(chat, given)
    replied = _check_reply(chat, reply)
    if not text.text:
        raise bad_request("text must be non-empty")
    check_length(text)
    check_not_blocked(chat)
    return _post(world, chat, text, keyboard, replied, thread=given.integer("message_thread_id"))


def send_chat_action(world: World, given: Arguments) -> bool:
    """Show the bot's activity, for five seconds or until it sends. Raises `Refusal`."""
    action = given.text("action").lower()
    if action not in _ACTIONS:
        raise bad_request("Wrong parameter action in request")
    chat = find_chat(world, given)
    check_thread(chat, given)
    check_not_blocked(chat)
    if action == "cancel":
        chat.action_until = 0.0
    else:
        chat.action, chat.action_until = action, world.now() + _ACTION_SHOWN
    return True


def send_message_draft(world: World, given: Arguments) -> bool:
    """Show a text that is being written; the same draft_id replaces it. Raises `Refusal`."""
    text = read_text(given)
    chat = find_chat(world, given)
    if chat.kind != PRIVATE:
        # The documentation: "Unique identifier for the target private chat"; the words are the server's code.
        raise bad_request("TEXTDRAFT_PEER_INVALID")
    check_thread(chat, given)
    if not given.integer("draft_id"):
        # "must be non-zero"; the word is of the kind that the server uses.
        raise bad_request("RANDOM_ID_INVALID")
    check_length(text)
    check_not_blocked(chat)
    chat.draft = Draft(given.integer("draft_id"), text, world.now() + _DRAFT_SHOWN)
    return True


def send_media(world: World, given: Arguments, kind: str) -> dict[str, Json]:
    """Send a photo, a document or a voice note. Raises `Refusal`."""
    source = given.files.get(kind) or given.files.get(given.text(kind).removeprefix("attach://"))
    if source is None and not given.text(kind):
        raise bad_request(f"there is no {kind} in the request")
    caption = read_text(given, "caption", "caption_entities")
    reply, keyboard = _read_reply(given), read_markup(given)
    chat = find_chat(world, given)
    check_thread(chat, given)
    replied = _check_reply(chat, reply)
    check_length(caption, MAX_CAPTION, "Message caption")
    if source is None:
        file = _known_file(world, given.text(kind))
    elif not source.data:
        raise bad_request("file must be non-empty")
    elif len(source.data) > _MAX_UPLOAD[kind]:
        # https://core.telegram.org/bots/api#sending-files
        raise Refusal(413, "Request Entity Too Large")
    elif kind == "photo" and (problem := photo_problem(source.data)):
        raise bad_request(problem)
    else:
        file = world.keep_file(source.name, source.content_type, source.data, _FOLDERS[kind])
    check_not_blocked(chat)
    return _post(world, chat, caption, keyboard, replied, kind, file, given.integer("message_thread_id"))


def _known_file(world: World, given: str) -> StoredFile:
    if given.startswith(("http://", "https://")):
        # Telegram would fetch it; nothing here reaches for the network.
        raise bad_request("failed to get HTTP URL content")
    file = world.files.get(given)
    if file is None:
        raise bad_request("wrong file identifier/HTTP URL specified")
    return file


def _post(
    world: World,
    chat: Chat,
    text: FormattedText,
    keyboard: dict[str, Json] | None,
    reply_to: int,
    media: str = "",
    file: StoredFile | None = None,
    thread: int = 0,
) -> dict[str, Json]:
    number = world.next_message_id()
    message = Message(number, chat.chat_id, world.bot.bot_id, world.date(), text, keyboard, 0, reply_to, media, file)
    message.thread = thread
    chat.messages[number] = message
    chat.action_until, chat.draft = 0.0, None
    return shapes.message(world, message)


def _read_reply(given: Arguments) -> tuple[int, bool]:
    """Read https://core.telegram.org/bots/api#replyparameters or the fields from before it."""
    if "reply_parameters" not in given.values:
        return max(given.integer("reply_to_message_id"), 0), given.flag("allow_sending_without_reply")
    value = given.json("reply_parameters", "Can't parse reply parameters JSON object")
    if value is None and not given.text("reply_parameters"):
        return 0, False
    if not isinstance(value, dict):
        raise bad_request("Object expected as reply parameters")
    if not value:
        return 0, False
    number = integer_field(value, "message_id", required=True)
    without = value.get("allow_sending_without_reply", False)
    if not isinstance(without, bool):
        raise bad_request('Field "allow_sending_without_reply" must be of type Boolean')
    return max(number, 0), without


def _check_reply(chat: Chat, reply: tuple[int, bool]) -> int:
    number, without = reply
    if not number or number in chat.messages:
        return number
    if not without:
        raise bad_request("message to be replied not found")
    return 0
