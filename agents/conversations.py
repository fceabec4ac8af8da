"""Find messages by their words, in all of the person's conversations."""

from zoneinfo import ZoneInfo

from onevalet import (
    SaidMessage,
    ToolExecutionContext,
    ToolRetry,
    gettext,
    moment_in_words,
    others_words,
    tool,
)

_MOST = 10
_MAX_WORDS = 200


@tool(name="search_messages", effect="read", outside=True, group="memories")
async def search_messages(words: str, context: ToolExecutionContext) -> str:
    """Find messages of earlier conversations by their words: for "find what we said about the boiler".

    For what the person is or likes, search_memory knows more.

    Args:
        words: One to three words that the messages have, in the language in which they were written, such as "boiler".
            Messages must have all of them; "quoted words" stand together. Where nothing is found, try the rarest alone.
    """
    if not words.strip() or len(words) > _MAX_WORDS:
        raise ToolRetry(f"Give one to three words, {_MAX_WORDS} characters at most.")
    found = await context.conversations.search(words, _MOST)
    if not found:
        return gettext("No message has these words.")
    zone = ZoneInfo(context.timezone)
    lines = [_told(message, moment_in_words(message.at, zone), message.around(words)) for message in found]
    return "\n".join(lines)


def _told(message: SaidMessage, moment: str, text: str) -> str:
    if message.inward:
        return gettext("{moment}, you wrote: {text}", moment=moment, text=text)
    if message.recipient is None:
        return gettext("{moment}, I wrote: {text}", moment=moment, text=text)
    name = others_words(message.recipient)
    return gettext("{moment}, I wrote to {name}: {text}", moment=moment, name=name, text=text)
