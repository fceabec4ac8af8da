"""Changing sent messages: https://core.telegram.org/bots/api#updating-messages."""

from workbench.simulator.journal import Json
from workbench.simulator.telegram import shapes
from workbench.simulator.telegram.arguments import Arguments
from workbench.simulator.telegram.chats import find_message
from workbench.simulator.telegram.errors import bad_request
from workbench.simulator.telegram.formatting import check_length, read_text
from workbench.simulator.telegram.keyboards import read_markup
from workbench.simulator.telegram.state import Message, World

_NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current "
    "content and reply markup of the message"
)
_DELETABLE_FOR = 48 * 3600
_MAX_TOAST = 200


def edit_message_text(world: World, given: Arguments) -> dict[str, Json]:
    if not given.text("text"):
        raise bad_request("message text is empty")
    text, keyboard = read_text(given), _inline(given)
    message = _own_message(world, given)
    if message.file:
        raise bad_request("there is no text in the message to edit")
    if not text.text:
        raise bad_request("text must be non-empty")
    check_length(text)
    if text == message.text and keyboard == message.keyboard:
        raise bad_request(_NOT_MODIFIED)
    message.text, message.keyboard, message.edited = text, keyboard, world.date()
    return shapes.message(world, message)


def edit_message_reply_markup(world: World, given: Arguments) -> dict[str, Json]:
    keyboard = _inline(given)
    message = _own_message(world, given)
    if keyboard == message.keyboard:
        raise bad_request(_NOT_MODIFIED)
    message.keyboard, message.edited = keyboard, world.date()
    return shapes.message(world, message)


def delete_message(world: World, given: Arguments) -> bool:
    if not given.text("chat_id"):
        raise bad_request("Chat identifier is not specified")
    if given.integer("message_id") <= 0:
        raise bad_request("Message identifier is not specified")
    message = find_message(world, given, "message to delete")
    if world.now() - message.date > _DELETABLE_FOR:
        raise bad_request("Message can't be deleted for everyone")
    del world.chats[message.chat_id].messages[message.message_id]
    return True


def answer_callback_query(world: World, given: Arguments) -> bool:
    """Answer a press, once and soon: https://core.telegram.org/bots/api#answercallbackquery.

    The time limit is not documented: clients wait for about a minute here.
    """
    if len(given.text("text")) > _MAX_TOAST:
        raise bad_request("MESSAGE_TOO_LONG")
    press = world.presses.get(given.text("callback_query_id"))
    if press is None or press.answered or world.now() - press.at > press.patience:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    if given.text("url"):
        # Only games and t.me links to the bot itself may be opened.
        raise bad_request("URL_INVALID")
    press.answered, press.text, press.alert = True, given.text("text"), given.flag("show_alert")
    return True


def _inline(given: Arguments) -> dict[str, Json] | None:
    """Return the keyboard of an edit: `InlineKeyboardMarkup` and no other kind is described for it."""
    markup = read_markup(given)
    if markup and "inline_keyboard" not in markup:
        raise bad_request("inline keyboard expected")
    return markup


def _own_message(world: World, given: Arguments) -> Message:
    if not given.text("chat_id") and not given.text("message_id"):
        # Then it must be an inline message, of which there are none here.
        if not given.text("inline_message_id"):
            raise bad_request("Message identifier is not specified")
        raise bad_request("MESSAGE_ID_INVALID")
    message = find_message(world, given, "message to edit")
    # #updating-messages: "only … messages without reply_markup or with inline keyboards".
    if message.sender != world.bot.bot_id or (message.keyboard and "inline_keyboard" not in message.keyboard):
        raise bad_request("message can't be edited")
    return message
