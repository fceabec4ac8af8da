"""Notes that the person shares with others: all of them read them, add to them, and may forget any of them.

What others wrote is shown by `show_shared_notes` only, whose result counts as their words.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from abilities.lists.notes import GROUP, MAX_LENGTH, NOTES, text_of
from core.tools.call_plans import plan_once
from core.tools.context import StoredValue, TenantStorage
from core.tools.sharing import SharedHome, sharing_among
from onevalet import ToolExecutionContext, ToolFailed, ToolRetry, gettext, tool

_MOST = 200
"""Notes of those who share them."""
_KEPT = timedelta(hours=1)
"""How long a forgotten note can be brought back; then its row goes."""


@tool(name="add_shared_note", effect="idempotent", parallel=False, group=GROUP)
async def add_shared_note(text: str, context: ToolExecutionContext) -> str:
    """Keep a note for all of the person's household: "a note for us". Any of them can read it.

    Args:
        text: In their own words.
    """
    home, storage = await _shared(context)
    text = text.strip()
    if not 0 < len(text) <= MAX_LENGTH:
        raise ToolRetry(gettext("A note has 1 to {number} characters.", number=MAX_LENGTH))
    await _drop_forgotten(storage, context.clock.now())
    if len(await storage.list(NOTES)) >= _MOST:
        raise ToolFailed(gettext("There are {number} notes already: forget one first.", number=_MOST))
    kept = await storage.put(NOTES, context.idempotency_key, {"text": text})
    title = gettext("Note: {text}", text=text)
    context.undo.offer(title, take_back_shared_note.name, {"key": kept.key, "home": home.id})
    return gettext(
        "Noted for “{household}” as number {number}: {text}", household=home.name, number=kept.number, text=text
    )


@tool(name="show_shared_notes", effect="read", outside=True, group=GROUP)
async def show_shared_notes(context: ToolExecutionContext) -> str:
    """Show the notes that the person's household shares, each with its number."""
    sharing = sharing_among(context.services)
    notes = [note for note in await sharing.storage.list(NOTES) if _stands(note)] if sharing else []
    if not notes:
        return gettext("There are no shared notes.")
    return "\n".join([gettext("The shared notes:"), *(f"{note.number}. {text_of(note.value)}" for note in notes)])


@tool(name="forget_shared_note", effect="idempotent", parallel=False, group=GROUP)
async def forget_shared_note(number: int, context: ToolExecutionContext) -> str:
    """Forget a note that the person's household shares.

    Args:
        number: The note's number, as show_shared_notes gives it.
    """
    home, storage = await _shared(context)

    async def plan() -> dict[str, str]:
        meant = [note for note in await storage.list(NOTES) if note.number == number and _stands(note)]
        return {"key": meant[0].key} if meant else {}

    planned = await plan_once(context, plan)
    if not planned:
        return gettext("There is no shared note {number} now.", number=number)
    await _mark(storage, planned["key"], context.clock.now())
    title = gettext("Forgotten shared note {number}", number=number)
    context.undo.offer(title, restore_shared_note.name, {"key": planned["key"], "home": home.id})
    return gettext("The shared note {number} is forgotten.", number=number)


@tool(name="take_back_shared_note", effect="idempotent", inverse=True)
async def take_back_shared_note(key: str, home: str, context: ToolExecutionContext) -> str:
    """Take back a note that was added for all.

    Args:
        key: Its key.
        home: Those who share it.
    """
    _, storage = await _shared(context, home)
    await storage.delete(NOTES, key)
    return gettext("Undone: the shared note is gone.")


@tool(name="restore_shared_note", effect="idempotent", inverse=True)
async def restore_shared_note(key: str, home: str, context: ToolExecutionContext) -> str:
    """Bring a shared note back that was forgotten.

    Args:
        key: Its key.
        home: Those who share it.
    """
    _, storage = await _shared(context, home)
    kept = await storage.get(NOTES, key)
    if kept is None or not isinstance(kept.value, Mapping):
        raise ToolFailed(gettext("That note is gone for good."))
    await storage.swap(NOTES, key, {"text": text_of(kept.value)}, kept.value)
    return gettext("Undone: the shared note {number} is back.", number=kept.number)


async def _shared(context: ToolExecutionContext, home_id: str | None = None) -> tuple[SharedHome, TenantStorage]:
    """Return the home and its shared notes; raise `ToolFailed` without a home, or if it is another one now."""
    sharing = sharing_among(context.services)
    home = await sharing.home() if sharing else None
    if sharing is None or home is None or home_id not in (None, home.id):
        raise ToolFailed(gettext("You share no notes with anybody: you are in no household, or in another one by now."))
    return home, sharing.storage


async def _mark(storage: TenantStorage, key: str, now: datetime) -> None:
    kept = await storage.get(NOTES, key)
    if kept is not None and _stands(kept):
        await storage.swap(NOTES, key, {"text": text_of(kept.value), "deleted_at": now.isoformat()}, kept.value)


def _stands(note: StoredValue) -> bool:
    return not (isinstance(note.value, Mapping) and "deleted_at" in note.value)


async def _drop_forgotten(storage: TenantStorage, now: datetime) -> None:
    """Delete the rows of notes that can no longer be brought back."""
    for note in await storage.list(NOTES):
        deleted = note.value.get("deleted_at") if isinstance(note.value, Mapping) else None
        if deleted and now - datetime.fromisoformat(str(deleted)) > _KEPT:
            await storage.delete(NOTES, note.key)
