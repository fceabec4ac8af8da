"""The words of a refusal in litellm's input, which it puts aside or, streamed, leaves out."""

from collections.abc import AsyncIterator
from typing import Any

from core.json_types import storable


def refusal_in(message: Any) -> str:
    """Return the words in which a message or its piece refuses; "" in any other."""
    beside = getattr(message, "provider_specific_fields", None) or {}
    return storable(str(getattr(message, "refusal", None) or beside.get("refusal") or ""))


class Overheard:
    """The provider's own stream behind a response of litellm's, listened to for refusals before litellm reads it.

    A stream that litellm begins only when it is read is left alone.
    """

    def __init__(self, response: Any) -> None:
        self._stream: Any = getattr(response, "completion_stream", None)
        self.refusal = ""
        if self._stream is not None:
            response.completion_stream = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> AsyncIterator[Any]:
        self._pieces = aiter(self._stream)
        return self

    async def __anext__(self) -> Any:
        piece = await anext(self._pieces)
        for choice in getattr(piece, "choices", None) or ():
            self.refusal += refusal_in(getattr(choice, "delta", None))
        return piece
