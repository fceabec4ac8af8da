"""How many tokens messages are, estimated without a tokenizer."""

from collections.abc import Sequence

from core.llm.types import ChatMessage

BYTES_PER_TOKEN = 4
_MESSAGE_TOKENS = 4
PICTURE_TOKENS = 1600
"""Of a picture of 1568 pixels, with the providers that take the most."""


def estimate_tokens(messages: Sequence[ChatMessage]) -> int:
    """Estimate the tokens of messages: four bytes each, which is near for most languages."""
    size = 0
    for message in messages:
        text = message.text
        size += (_MESSAGE_TOKENS + PICTURE_TOKENS * len(message.pictures)) * BYTES_PER_TOKEN
        size += len(text) if text.isascii() else len(text.encode(errors="replace"))
        for call in message.tool_calls:
            size += len(call.arguments) + len(call.name)
        for block in message.thinking:
            size += len(str(block))
    return size // BYTES_PER_TOKEN
