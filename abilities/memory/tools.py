"""Remember, recall, correct and forget, in the person's own words."""

from onevalet import ToolExecutionContext, ToolFailed, ToolRetry, gettext, gettext_noop, tool, with_note

_GROUP = "memories"
"""The group of the tools that look after memories, which few talks need."""
_MAX_LENGTH = 600
_NAMES = (gettext_noop("memories"),)
"""The names of `forget`'s arguments on cards."""


@tool(name="remember", effect="idempotent", parallel=False, needs_memory="on")
async def remember(statement: str, context: ToolExecutionContext) -> str:
    """Keep for good what the person asks to be remembered. Never passwords, codes or card numbers.

    Args:
        statement: One statement in their own words and voice: "I am allergic to nuts".
    """
    if not statement.strip() or len(statement) > _MAX_LENGTH:
        raise ToolRetry(f"Give one statement of 1 to {_MAX_LENGTH} characters.")
    kept = await context.memory.remember(statement.strip(), context.idempotency_key)
    if not kept:
        return gettext("That was known already.")
    _offer(gettext("Remembered: {text}", text=kept[0].text), [memory.number for memory in kept], context)
    return "\n".join([gettext("Remembered:"), *(memory.line() for memory in kept)])


@tool(name="search_memory", effect="read", needs_memory="recall")
async def search_memory(question: str, context: ToolExecutionContext) -> str:
    """Look up facts, agreements and findings from earlier talks.

    Args:
        question: A question, or a few words.
    """
    memories = await context.memory.search(question)
    if not memories:
        return gettext("Nothing is known about that.")
    return "\n".join([gettext("Known:"), *(memory.line() for memory in memories)])


@tool(name="list_memories", effect="read", needs_memory="on", group=_GROUP)
async def list_memories(context: ToolExecutionContext) -> str:
    """List what the person has told about themselves, the newest first: for "what do you know about me?"."""
    memories = await context.memory.overview()
    if not memories:
        return gettext("Nothing is remembered yet.")
    return "\n".join([gettext("Remembered:"), *(memory.line() for memory in memories)])


@tool(name="correct_memory", effect="idempotent", parallel=False, needs_memory="on", group=_GROUP)
async def correct_memory(number: int, context: ToolExecutionContext, statement: str = "") -> str:
    """Correct a wrong memory, or let a memory hold again that was wrongly replaced.

    Args:
        number: The memory's number, as list_memories or search_memory gives it.
        statement: The correct statement, in the person's voice. Leave it empty to let the memory hold again as it was.
    """
    kept = await context.memory.correct(number, statement.strip(), context.idempotency_key)
    if not kept:
        return gettext("That was known already.")
    if statement.strip():
        _offer(gettext("Corrected: {text}", text=kept[0].text), [memory.number for memory in kept], context)
    return "\n".join([gettext("From now on this counts:"), *(memory.line() for memory in kept)])


@tool(name="ask_to_forget", effect="idempotent", parallel=False, needs_memory="on", group=_GROUP)
async def ask_to_forget(what: str, context: ToolExecutionContext, numbers: list[int] | None = None) -> str:
    """Begin to forget: find the memories meant. Then call forget with those to go; nothing is forgotten before that.

    Args:
        what: What to forget, in the person's words.
        numbers: The numbers of the memories, where the person named them.
    """
    memories = await context.memory.ask_to_forget(what.strip(), numbers or ())
    if not memories:
        return gettext("No memory matches that.")
    return with_note(
        "\n".join([gettext("You may mean this:"), *(memory.line() for memory in memories)]),
        "Nothing is forgotten yet. Call forget with those of these lines that the person wants to be forgotten.",
    )


@tool(
    name="forget",
    title=gettext_noop("Forget for good"),
    effect="idempotent",
    parallel=False,
    needs_memory="on",
    needs_approval=True,
    group=_GROUP,
)
async def forget(memories: list[str], context: ToolExecutionContext) -> str:
    """Forget memories for good. The person is shown exactly these and must agree; nothing else is forgotten.

    Args:
        memories: The lines of the memories exactly as ask_to_forget returned them, each with its number.
    """
    if not memories:
        raise ToolRetry("Name what to forget: call ask_to_forget first, and give its lines.")
    gone = await context.memory.forget(memories)
    context.undo.final(
        gettext("Forget for good"),
        gettext("Forgotten memories are not kept; please tell me again."),
    )
    # Running turns may still store words that they read before: these are deleted once the turns have ended.
    sentence = gettext(
        "Forgotten for good: {number}. It is removed from our messages too, once none of them is on its way.",
        number=gone,
    )
    return with_note(sentence, "Do not repeat what it was.")


@tool(name="take_back_memory", effect="idempotent", inverse=True, needs_memory="on")
async def take_back_memory(numbers: list[int], context: ToolExecutionContext) -> str:
    """Take back new memories; those that they replaced hold again.

    Args:
        numbers: The memories' numbers.
    """
    gone = await context.memory.take_back(numbers)
    if gone is None:
        raise ToolFailed(gettext("It has been corrected since."))
    if not gone:
        return gettext("Undone: I no longer remember it.")
    return gettext("Undone: I no longer remember “{text}”.", text=gone[0])


def _offer(title: str, numbers: list[int], context: ToolExecutionContext) -> None:
    context.undo.offer(title, take_back_memory.name, {"numbers": [*numbers]})
