"""The references of a message: the message that it answers, here or elsewhere, the quoted part, a story; pure.

Source: core.telegram.org/bots/api#message (`reply_to_message`, `external_reply`, `quote`, `reply_to_…`). Unreadable
references are named, and never cost the person's own words.
"""

from dataclasses import replace

from channels.telegram.kinds import content_of, happened
from channels.telegram.media import read_media
from channels.telegram.text import linked_text
from channels.telegram.words import chosen_words, words_of
from core.errors import RequestRefused
from core.json_types import Json, JsonObject
from core.messaging.messages import Media, Origin
from core.messaging.pointed import Pointed, Whose

_FORWARDED = ("forward_origin", "forward_date", "forward_from", "forward_from_chat", "forward_sender_name")
_BY_BOT = ("via_bot", "sender_business_bot")


def read_origin(message: JsonObject) -> Origin:
    """Return the author of a message's words: core.telegram.org/bots/api#message, with names of fields before 7.0."""
    if any(message.get(name) for name in _FORWARDED):
        return Origin.FORWARDED
    return Origin.VIA_BOT if any(message.get(name) for name in _BY_BOT) else Origin.OWN


def read_points(message: JsonObject, sender: str, bot: str) -> tuple[tuple[Pointed, ...], tuple[Media, ...]]:
    """Return the references of a message, and their files. `sender` and `bot` are their numbers."""
    part = _quoted(message)
    replied, external = message.get("reply_to_message"), message.get("external_reply")
    if isinstance(replied, dict):
        whose = _whose(replied.get("from"), sender, bot) if "sender_chat" not in replied else Whose.OTHERS
        whose = whose if read_origin(replied) is Origin.OWN else Whose.OTHERS
    elif isinstance(external, dict):
        replied, whose = external, _whose_origin(external.get("origin"), sender, bot)
    elif "reply_to_story" in message:
        replied, whose = {"story": message["reply_to_story"]}, Whose.OTHERS
    elif part:
        replied, whose = {}, Whose.OTHERS
    else:
        return (), ()
    if happened(replied) and not part:  # the topic in which it stands began, or something was pinned
        return (), ()
    words, media = _content(replied)
    part = part or chosen_words(replied, message)
    shown = words or part
    if not shown and not media:
        shown = f"(something that cannot be shown here: {content_of(replied).replace('_', ' ') or 'an older message'})"
    return (Pointed(shown, whose, part, len(media)),), media


def _content(replied: JsonObject) -> tuple[str, tuple[Media, ...]]:
    """Return the readable words and files of a message; they were not sent to us directly."""
    try:
        words = words_of(replied)
    except RequestRefused:
        words = ""
    try:
        return words, tuple(replace(media, voice=False) for media in read_media(replied))
    except RequestRefused:
        return words, ()


def _quoted(message: JsonObject) -> str:
    quote = message.get("quote")
    words = quote.get("text") if isinstance(quote, dict) else None
    return linked_text(words, quote.get("entities")) if isinstance(quote, dict) and isinstance(words, str) else ""


def _whose(user: Json, sender: str, bot: str) -> Whose:
    number = user.get("id") if isinstance(user, dict) else None
    if number is None or isinstance(number, bool):
        return Whose.OTHERS
    return {bot: Whose.ASSISTANT, sender: Whose.OWN}.get(str(number), Whose.OTHERS)


def _whose_origin(origin: Json, sender: str, bot: str) -> Whose:
    """Read core.telegram.org/bots/api#messageorigin: only a user who does not hide is known by a number."""
    if not isinstance(origin, dict) or origin.get("type") != "user":
        return Whose.OTHERS
    return _whose(origin.get("sender_user"), sender, bot)
