"""Remember, list and forget for all of the person's household, in the person's own words."""

from core.tools.memory_access import MemoryAccess
from core.tools.sharing import SharedHome, sharing_among
from onevalet import ToolExecutionContext, ToolFailed, ToolGroup, ToolRetry, gettext, gettext_noop, tool

_GROUP = ToolGroup("household", gettext_noop("for us, for all of us"))
"""The group that shows who is in it, and the words of people who want these tools."""
_MAX_LENGTH = 600


@tool(name="remember_for_us", effect="idempotent", parallel=False, needs_memory="on", group=_GROUP)
async def remember_for_us(statement: str, context: ToolExecutionContext) -> str:
    """Remember something for all of the person's household: "remember for us that the spare key is at Mia's".

    Args:
        statement: One statement in their own words, true for any of them.
    """
    home, memory = await _shared(context)
    if not statement.strip() or len(statement) > _MAX_LENGTH:
        raise ToolRetry(f"Give one statement of 1 to {_MAX_LENGTH} characters.")
    kept = await memory.remember(statement.strip(), context.idempotency_key)
    if not kept:
        return gettext("That was known already.")
    title = gettext("Remembered for “{household}”: {text}", household=home.name, text=kept[0].text)
    numbers = [one.number for one in kept]
    context.undo.offer(title, take_back_shared_memory.name, {"numbers": [*numbers], "home": home.id})
    return title


@tool(name="list_shared_memories", effect="read", outside=True, needs_memory="on", group=_GROUP)
async def list_shared_memories(context: ToolExecutionContext) -> str:
    """List the memories of the person's household, the newest first."""
    _, memory = await _shared(context)
    known = await memory.overview()
    if not known:
        return gettext("I remember nothing for your household yet.")
    return "\n".join([gettext("Remembered for all of you:"), *(one.line() for one in known)])


@tool(
    name="forget_for_us",
    title=gettext_noop("Forget for all of the household"),
    effect="idempotent",
    parallel=False,
    needs_memory="on",
    needs_approval=True,
    group=_GROUP,
)
async def forget_for_us(memories: list[str], context: ToolExecutionContext) -> str:
    """Forget memories of the person's household for good. The person must agree to exactly these.

    Args:
        memories: The lines of the memories exactly as list_shared_memories returned them, each with its number.
    """
    _, memory = await _shared(context)
    if not memories:
        raise ToolRetry("Name what to forget: call list_shared_memories first, and give its lines.")
    # The list is shown to the model as a quotation.
    gone = await memory.forget([line.removeprefix("> ") for line in memories])
    context.undo.final(
        gettext("Forget for all of the household"), gettext("Forgotten memories are not kept; please tell me again.")
    )
    return gettext("Forgotten for all of you: {number}.", number=gone)


@tool(name="take_back_shared_memory", effect="idempotent", inverse=True, needs_memory="on")
async def take_back_shared_memory(numbers: list[int], home: str, context: ToolExecutionContext) -> str:
    """Take back a statement that was just remembered for all.

    Args:
        numbers: The memories' numbers.
        home: Those who share them.
    """
    _, memory = await _shared(context, home)
    if await memory.take_back(numbers) is None:
        raise ToolFailed(gettext("It has been corrected since."))
    return gettext("Undone: I no longer remember it for you.")


async def _shared(context: ToolExecutionContext, home_id: str | None = None) -> tuple[SharedHome, MemoryAccess]:
    """Return the other members and their memory; raise `ToolFailed` without a home, or if it is another one now."""
    sharing = sharing_among(context.services)
    home = await sharing.home() if sharing else None
    if home is None or home_id not in (None, home.id):
        raise ToolFailed(
            gettext("You share no memory with anybody: you are in no household, or in another one by now.")
        )
    return home, await context.memory.shared(home.id)
