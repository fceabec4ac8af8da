"""The bot's description of itself: https://core.telegram.org/bots/api#setmycommands and its siblings."""

import json
import re

from workbench.simulator.journal import Json
from workbench.simulator.telegram.arguments import Arguments
from workbench.simulator.telegram.errors import bad_request
from workbench.simulator.telegram.fields import string_field
from workbench.simulator.telegram.state import World

_WIDE_SCOPES = ("default", "all_private_chats", "all_group_chats", "all_chat_administrators")
_CHAT_SCOPES = ("chat", "chat_administrators", "chat_member")
_MAX_COMMANDS = 100


def set_my_commands(world: World, given: Arguments) -> bool:
    value = given.json("commands", "Can't parse commands JSON object")
    if value is None and not given.text("commands"):
        value = []
    if not isinstance(value, list):
        raise bad_request("Expected an Array of BotCommand")
    commands: list[Json] = [_command(item) for item in value]
    if len(commands) > _MAX_COMMANDS:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    world.settings.commands[_key(world, given)] = commands
    return True


def get_my_commands(world: World, given: Arguments) -> Json:
    return [*world.settings.commands.get(_key(world, given), [])]


def delete_my_commands(world: World, given: Arguments) -> bool:
    world.settings.commands.pop(_key(world, given), None)
    return True


def set_words(world: World, given: Arguments, name: str, limit: int) -> bool:
    """Set the text of an empty chat ("description") or of the profile ("short_description"). Raises `Refusal`."""
    words, language = given.text(name), _language(given)
    if len(words) > limit:
        # The documentation gives the limit; the word is of the kind that the server uses.
        raise bad_request(f"{name.upper()}_TOO_LONG")
    if words:
        world.settings.words[name, language] = words
    else:
        world.settings.words.pop((name, language), None)
    return True


def get_words(world: World, given: Arguments, name: str) -> Json:
    """Return such words in a language, or those of no language."""
    words = world.settings.words
    return {name: words.get((name, _language(given)), words.get((name, ""), ""))}


def set_chat_menu_button(world: World, given: Arguments) -> bool:
    """Set the button next to the input field, for a single private chat or for all. Raises `Refusal`."""
    value = given.json("menu_button", "Can't parse menu button JSON object")
    if value is None and not given.text("menu_button"):
        value = {"type": "default"}
    if not isinstance(value, dict):
        raise bad_request("Can't parse menu button: MenuButton must be an Object")
    kind = string_field(value, "type", "Can't parse menu button: ", required=True)
    if kind == "web_app":
        if not string_field(value, "text", "Can't parse menu button: ", required=True):
            raise bad_request("Menu button text must be non-empty")
    elif kind not in ("default", "commands"):
        raise bad_request("Can't parse menu button: MenuButton has unsupported type")
    world.settings.menu_buttons[_menu_chat(world, given)] = value
    return True


def get_chat_menu_button(world: World, given: Arguments) -> Json:
    buttons = world.settings.menu_buttons
    common = buttons.get(0, {"type": "commands"})
    return buttons.get(_menu_chat(world, given), common)


def _command(value: Json) -> dict[str, Json]:
    context = "Can't parse BotCommand: "
    if not isinstance(value, dict):
        raise bad_request(f"{context}expected an Object")
    name = string_field(value, "command", context, required=True).strip().removeprefix("/")
    words = string_field(value, "description", context, required=True).strip()
    if not name:
        raise bad_request("Command must be non-empty")
    if len(name) > 32:
        raise bad_request("Command length must not exceed 32")
    if not words:
        raise bad_request("Command description must be non-empty")
    if len(words) > 256:
        raise bad_request("Command description length must not exceed 256")
    if not re.fullmatch(r"[a-z0-9_]+", name):
        # https://core.telegram.org/bots/api#botcommand
        raise bad_request("BOT_COMMAND_INVALID")
    return {"command": name, "description": words}


def _key(world: World, given: Arguments) -> tuple[str, str]:
    return _scope(world, given), _language(given)


def _scope(world: World, given: Arguments) -> str:
    value = given.json("scope", "Can't parse BotCommandScope JSON object")
    if value is None and not given.text("scope"):
        return json.dumps({"type": "default"})
    context = "Can't parse BotCommandScope: "
    if not isinstance(value, dict):
        raise bad_request(f"{context}BotCommandScope must be an Object")
    kind = string_field(value, "type", context, required=True)
    if kind in _WIDE_SCOPES:
        return json.dumps({"type": kind})
    if kind not in _CHAT_SCOPES:
        raise bad_request(f"{context}Unsupported type specified")
    chat = string_field(value, "chat_id", context, required=True)
    if not chat:
        raise bad_request(f"{context}Empty chat_id specified")
    if not chat.lstrip("-").isdecimal() or int(chat) not in world.chats:
        raise bad_request("chat not found")
    return json.dumps({"type": kind, "chat_id": int(chat), "user_id": string_field(value, "user_id", context)})


def _language(given: Arguments) -> str:
    language = given.text("language_code")
    if language and not re.fullmatch(r"[a-z]{2}", language):
        raise bad_request("Invalid language code specified")
    return language


def _menu_chat(world: World, given: Arguments) -> int:
    number = given.integer("chat_id")
    if given.text("chat_id") and (number not in world.chats or number < 0):
        raise bad_request("chat not found")
    return number
