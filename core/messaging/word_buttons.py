"""Buttons that type a chat word: a press is the person's own message, so that a forger gains nothing. Pure."""

from core.messaging.chat_reader import chat_words
from core.messaging.messages import Action, InboundMessage, Press

TYPES = "type."
"""The beginning of such a button's token."""


def word_button(label: str, words: str) -> Action:
    """Return a button that types a chat word with its argument; `words` are ASCII, and stay under 60 characters."""
    return Action(label, f"{TYPES}{'.'.join(words.split())}")


def word_pressed(press: Press) -> InboundMessage | None:
    """Return the message that a press types; None for any other button, or if its words are no chat word."""
    if not press.token.startswith(TYPES) or press.entered is not None:
        return None
    text = press.token.removeprefix(TYPES).replace(".", " ")
    command = chat_words().read(text, press.address.channel)
    return (
        InboundMessage(press.address, press.sender, press.keys, text, command=command, pressed=press)
        if command
        else None
    )
