"""From a call's text and entities to a settled text: https://core.telegram.org/bots/api#formatting-options.

`parse_mode` is not emulated and is refused: the assistant sends entities, whose offsets no character can break.
"""

import re

from workbench.simulator.journal import Json
from workbench.simulator.telegram.arguments import Arguments
from workbench.simulator.telegram.entities import Entity, FormattedText, settle
from workbench.simulator.telegram.errors import bad_request
from workbench.simulator.telegram.fields import integer_field, string_field

MAX_TEXT = 4096
"""In characters, not UTF-16 units: the server source compares `utf8_length`; entities alone are in units."""
MAX_CAPTION = 1024
_MAX_RAW = 1 << 15
_PLAIN_TYPES = frozenset(
    ("bold", "italic", "underline", "strikethrough", "spoiler", "code", "blockquote", "expandable_blockquote")
)
# Telegram finds these by itself and passes over them when they are given.
_FOUND_TYPES = frozenset(
    ("mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card_number")
)
# https://core.telegram.org/bots/api#date-time-entity-formatting
_DATE_FORMAT = re.compile(r"|[rR]|[tTdDwW]+")


def read_text(given: Arguments, name: str = "text", entities: str = "entities") -> FormattedText:
    """Settle a text with its entities, without a look at its length. Raises `Refusal`."""
    raw = given.text(name)
    if given.text("parse_mode"):
        raise bad_request("The simulator does not emulate parse_mode: send entities")
    if len(raw.encode("utf-8", "surrogatepass")) > _MAX_RAW:
        raise bad_request("Text is too long")
    try:
        raw.encode()
    except UnicodeEncodeError:
        raise bad_request("Strings must be encoded in UTF-8") from None
    value = given.json_or_none(entities)
    listed = [_entity(item) for item in value] if isinstance(value, list) else []
    return settle(raw, [entity for entity in listed if entity is not None])


def check_length(text: FormattedText, limit: int = MAX_TEXT, name: str = "Message") -> None:
    """Refuse a text over the limit: https://core.telegram.org/bots/api#sendmessage, "after entities parsing"."""
    if len(text.text) > limit:
        raise bad_request(f"{name} is too long")


def _entity(value: Json) -> Entity | None:
    context = "Can't parse MessageEntity: "
    if not isinstance(value, dict):
        raise bad_request(f"{context}expected an Object")
    offset = integer_field(value, "offset", context, required=True)
    length = integer_field(value, "length", context, required=True)
    kind = string_field(value, "type", context, required=True)
    if not kind:
        raise bad_request(f"{context}Type is not specified")
    if kind in _PLAIN_TYPES:
        return Entity(kind, offset, length)
    if kind in _FOUND_TYPES:
        return None
    match kind:
        case "pre":
            return Entity(kind, offset, length, language=string_field(value, "language", context))
        case "text_link":
            return Entity(kind, offset, length, url=string_field(value, "url", context, required=True))
        case "text_mention":
            return Entity(kind, offset, length, user_id=_mentioned(value, context))
        case "custom_emoji":
            emoji = integer_field(value, "custom_emoji_id", context, required=True)
            return Entity(kind, offset, length, custom_emoji_id=str(emoji))
        case "date_time":
            unix = integer_field(value, "unix_time", context, required=True)
            form = string_field(value, "date_time_format", context)
            if not _DATE_FORMAT.fullmatch(form):
                raise bad_request(f"{context}Invalid date-time format specified")
            return Entity(kind, offset, length, unix_time=unix, date_time_format=form)
        case _:
            raise bad_request(f"{context}Unsupported type specified")


def _mentioned(value: dict[str, Json], context: str) -> int:
    user = value.get("user")
    if not isinstance(user, dict):
        problem = 'Field "user" must be of type Object' if "user" in value else 'Can\'t find field "user"'
        raise bad_request(f"{context}{problem}")
    return integer_field(user, "id", context, required=True)
