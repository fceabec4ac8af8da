"""Keep notes for the person: short texts, each with a number that stays its own."""

from onevalet import ToolExecutionContext, ToolRetry, tool

_NOTES = "notes"
_MAX_LENGTH = 2000


@tool(name="add_note", effect="idempotent", parallel=False)
async def add_note(text: str, context: ToolExecutionContext) -> str:
    """Keep a note for the person until they have it forgotten. It reminds nobody.

    Args:
        text: What to note, in the person's own words.
    """
    text = text.strip()
    if not text:
        raise ToolRetry("The note is empty; give its text.")
    if len(text) > _MAX_LENGTH:
        raise ToolRetry(f"A note has at most {_MAX_LENGTH} characters; keep it in several.")
    kept = await context.storage.put(_NOTES, context.idempotency_key, {"text": text})
    return f"Noted as number {kept.number}: {text}"


@tool(name="list_notes", effect="read")
async def list_notes(context: ToolExecutionContext) -> str:
    """List the person's notes, each with its number."""
    notes = await context.storage.list(_NOTES)
    if not notes:
        return "There are no notes."
    return "\n".join(["The notes:", *(f"{note.number}. {_text(note.value)}" for note in notes)])


@tool(name="forget_note", effect="idempotent", parallel=False)
async def forget_note(number: int, context: ToolExecutionContext) -> str:
    """Forget a note for good.

    Args:
        number: The note's number, as list_notes gives it.
    """
    for note in await context.storage.list(_NOTES):
        if note.number == number:
            await context.storage.delete(_NOTES, note.key)
            return f"Note {number} is forgotten: {_text(note.value)}"
    return f"There is no note {number} now."


def _text(value: object) -> str:
    return str(value["text"]) if isinstance(value, dict) else str(value)
