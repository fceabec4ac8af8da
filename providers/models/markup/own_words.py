"""A model's own words: its answers without its markup, with the calls that it wrote as text."""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace

from core.llm.types import ModelAnswer, ModelChunk, ModelRequest, ToolSpec
from providers.models.markup.reader import MarkupReader, Read

_MAY_THINK_FIRST = re.compile(
    r"\br1\b|think|reason|qwq|qwen-?3|deepseek|glm|minimax|kimi|nemotron|exaone|magistral|hunyuan|seed-oss|step-?3",
    re.IGNORECASE,
)
"""Open models whose templates may begin thoughts; any other is found out by its first such answer."""


def offered_by(request: ModelRequest) -> Mapping[str, ToolSpec]:
    """Return the tools that a model may call, by name."""
    return {tool.name: tool for tool in request.tools} if request.use_tools else {}


def in_own_words(answer: ModelAnswer, offered: Mapping[str, ToolSpec]) -> ModelAnswer:
    """Return an answer without markup. Calls in its text are its calls unless it has others, which are the same.

    An answer with a call that cannot be read is empty or makes that call, so that the loop asks the model again.
    """
    return _heard(answer, _read(answer, offered), offered)


class OwnWords:
    """Reads the answers of a client's models, and remembers which of them begin to think without saying so."""

    def __init__(self) -> None:
        self._thinks_first: set[str] = set()
        self._met: set[str] = set()

    def whole(self, model: str, answer: ModelAnswer, offered: Mapping[str, ToolSpec]) -> ModelAnswer:
        """Return an answer without markup."""
        read = _read(answer, offered)
        self._remember(model, answer, read)
        return _heard(answer, read, offered)

    async def streamed(
        self, model: str, chunks: AsyncGenerator[ModelChunk], offered: Mapping[str, ToolSpec]
    ) -> AsyncGenerator[ModelChunk]:
        """Pass on a stream without markup, and close it.

        The first words do not show that a template began a thought. So the text of a model that does this waits for the
        thought's end, and so does that of a model that may, up to an answer that shows that it does not.
        """
        waits = model in self._thinks_first or (model not in self._met and bool(_MAY_THINK_FIRST.search(model)))
        reader = MarkupReader(offered, waits=waits)
        async with aclosing(chunks):
            async for chunk in chunks:
                text = reader.feed(chunk.text) if chunk.text else ""
                answer = chunk.answer
                if answer is None:
                    yield chunk if text == chunk.text else replace(chunk, text=text)
                    continue
                if answer.text == reader.text:
                    read = reader.end(cut=answer.cut)
                    if rest := reader.rest():
                        yield ModelChunk(rest)
                else:
                    read = _read(answer, offered)
                self._remember(model, answer, read)
                yield replace(chunk, answer=_heard(answer, read, offered))

    def _remember(self, model: str, answer: ModelAnswer, read: Read) -> None:
        if read.opened_elsewhere:
            self._thinks_first.add(model)
        elif answer.text.strip():
            self._met.add(model)


def _read(answer: ModelAnswer, offered: Mapping[str, ToolSpec]) -> Read:
    reader = MarkupReader(offered)
    reader.text = answer.text
    return reader.end(cut=answer.cut)


def _heard(answer: ModelAnswer, read: Read, offered: Mapping[str, ToolSpec]) -> ModelAnswer:
    if not read.changed:
        return answer
    calls = answer.tool_calls or (read.calls if offered else ())
    unreadable = read.broken and offered and not calls
    return replace(answer, text="" if unreadable else read.said, tool_calls=calls)
