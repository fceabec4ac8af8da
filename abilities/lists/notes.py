"""Keep notes for the person: short texts, each with a number that stays its own."""

from core.tools.call_plans import plan_once
from onevalet import ToolExecutionContext, ToolGroup, ToolRetry, gettext, gettext_noop, tool

NOTES = "notes"
GROUP = ToolGroup("notes", gettext_noop("note, notes"))
"""Of the tools that few talks about notes need."""
MAX_LENGTH = 2000


@tool(name="add_note", effect="idempotent", parallel=False)
async def add_note(text: str, context: ToolExecutionContext) -> str:
    """Keep a note for the person. It reminds nobody.

    Args:
        text: In their own words.
    """
    text = text.strip()
    if not text:
        raise ToolRetry("The note is empty; give its text.")
    if len(text) > MAX_LENGTH:
        raise ToolRetry(
            gettext("A note has at most {number} characters.", number=MAX_LENGTH), note="Keep it in several."
        )
    kept = await context.storage.put(NOTES, context.idempotency_key, {"text": text})
    context.undo.offer(gettext("Note: {text}", text=text), take_back_note.name, {"key": kept.key})
    return gettext("Noted as number {number}: {text}", number=kept.number, text=text)


@tool(name="list_notes", effect="read")
async def list_notes(context: ToolExecutionContext) -> str:
    """List the person's notes, each with its number."""
    notes = await context.storage.list(NOTES)
    if not notes:
        return gettext("There are no notes.")
    return "\n".join([gettext("The notes:"), *(f"{note.number}. {text_of(note.value)}" for note in notes)])


@tool(name="export_notes", effect="read", group=GROUP)
async def export_notes(context: ToolExecutionContext) -> str:
    """Send the person all their notes as a text file."""
    notes = await context.storage.list(NOTES)
    if not notes:
        return gettext("There are no notes.")
    lines = [gettext("The notes:"), *(f"{note.number}. {text_of(note.value)}" for note in notes)]
    await context.files.put(gettext("notes.txt"), "\n".join([*lines, ""]).encode(), "text/plain")
    return gettext("Here are your notes as a file.")


@tool(name="forget_note", effect="idempotent", parallel=False, group=GROUP)
async def forget_note(number: int, context: ToolExecutionContext) -> str:
    """Forget a note for good.

    Args:
        number: The note's number, as list_notes gives it.
    """

    async def plan() -> dict[str, str]:
        meant = [note for note in await context.storage.list(NOTES) if note.number == number]
        return {"key": meant[0].key, "text": text_of(meant[0].value)} if meant else {}

    planned = await plan_once(context, plan)
    if not planned:
        return gettext("There is no note {number} now.", number=number)
    await context.storage.delete(NOTES, planned["key"])
    text = planned["text"]
    context.undo.offer(gettext("Forgotten note: {text}", text=text), restore_note.name, {"text": text})
    return gettext("Note {number} is forgotten: {text}", number=number, text=text)


@tool(name="take_back_note", effect="idempotent", inverse=True)
async def take_back_note(key: str, context: ToolExecutionContext) -> str:
    """Take back a note that was added.

    Args:
        key: Its key.
    """
    note = await context.storage.get(NOTES, key)
    await context.storage.delete(NOTES, key)
    return (
        gettext("Undone: the note is gone: {text}", text=text_of(note.value)) if note else gettext("The note is gone.")
    )


@tool(name="restore_note", effect="idempotent", inverse=True)
async def restore_note(text: str, context: ToolExecutionContext) -> str:
    """Keep a note again that was forgotten; it gets a new number.

    Args:
        text: Its text.
    """
    kept = await context.storage.put(NOTES, context.idempotency_key, {"text": text})
    return gettext("Undone: the note is back, as number {number}: {text}", number=kept.number, text=text)


def text_of(value: object) -> str:
    """Return the text of a stored note."""
    return str(value["text"]) if isinstance(value, dict) else str(value)
