"""References of a person's message: a part of another message, a message of another chat, an address behind a word.

https://core.telegram.org/bots/api#textquote, #externalreplyinfo and #messageentity.
"""

from dataclasses import replace

from workbench.simulator.base import BadAction
from workbench.simulator.journal import Json
from workbench.simulator.telegram.act_arguments import text
from workbench.simulator.telegram.entities import Entity, FormattedText
from workbench.simulator.telegram.state import Message
from workbench.simulator.telegram.text import utf16_length


def linked(content: FormattedText, wishes: dict[str, Json]) -> FormattedText:
    """Return a text with the address "url" behind its words "linked", as people make in the app."""
    if not (words := text(wishes, "linked", required=False)):
        return content
    before, found, _ = content.text.partition(words)
    if not found:
        raise BadAction("There are no such words to link.")
    entity = Entity("text_link", utf16_length(before), utf16_length(words), url=text(wishes, "url"))
    return replace(content, entities=(*content.entities, entity))


def pointed(replied: Message | None, wishes: dict[str, Json], date: int) -> dict[str, Json]:
    """Return the fields about the part "quote", of the message replied to or of a message by "elsewhere"."""
    quote, elsewhere = (text(wishes, name, required=False) for name in ("quote", "elsewhere"))
    if elsewhere:
        origin: dict[str, Json] = {"type": "hidden_user", "date": date, "sender_user_name": elsewhere}
        return {"external_reply": {"origin": origin}, "quote": _quote(text(wishes, "quote"), 0)}
    if not quote:
        return {}
    before, found, _ = replied.text.text.partition(quote) if replied else ("", "", "")
    if not found:
        # https://core.telegram.org/bots/api#replyparameters: "must be an exact substring".
        raise BadAction("What is quoted must stand in the message that is replied to.")
    return {"quote": _quote(quote, utf16_length(before))}


def _quote(words: str, position: int) -> dict[str, Json]:
    return {"text": words, "position": position, "is_manual": True}
