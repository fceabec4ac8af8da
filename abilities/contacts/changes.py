"""A call's changes to the contacts stored here: planned once, carried out once, and taken back completely."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from abilities.contacts.book import COLLECTION, Contact, read_contact
from core.tools.call_plans import plan_once
from onevalet import ToolExecutionContext, ToolFailed, gettext, tool


@dataclass(frozen=True, slots=True)
class ContactChange:
    """A contact under its key, before and after; None if it does not exist."""

    key: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @classmethod
    def between(cls, before: Contact | None, after: Contact | None) -> "ContactChange":
        """Return the change between two states."""
        key = (after or before or Contact("")).key
        return cls(key, before.to_json() if before else None, after.to_json() if after else None)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "ContactChange":
        return cls(str(data["key"]), data["before"], data["after"])

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "before": self.before, "after": self.after}

    @property
    def contact(self) -> Contact:
        """Return the contact after the change; if it was removed, the contact before."""
        return read_contact(self.after if self.after is not None else self.before, self.key, 0)


async def change_once(
    context: ToolExecutionContext, plan: Callable[[], Awaitable[Sequence[ContactChange]]]
) -> list[ContactChange]:
    """Plan changes and carry them out; a repeat of the call changes nothing that was changed since."""

    async def planned() -> dict[str, Any]:
        return {"changes": [change.to_json() for change in await plan()]}

    changes = [ContactChange.from_json(change) for change in (await plan_once(context, planned))["changes"]]
    for change in changes:
        if await _now(change.key, context) == _bare(change.before):
            await _put(change.key, change.after, context)
    return changes


def offer_back(title: str, changes: Sequence[ContactChange], context: ToolExecutionContext) -> None:
    """Offer to take changes back."""
    if any(change.before != change.after for change in changes):
        arguments: dict[str, Any] = {"changes": [change.to_json() for change in changes]}
        context.undo.offer(title, take_back_contacts.name, arguments)


@tool(name="take_back_contacts", effect="idempotent", inverse=True)
async def take_back_contacts(changes: list[dict[str, Any]], context: ToolExecutionContext) -> str:
    """Take back a change of the contacts.

    Args:
        changes: Each contact before and after.
    """
    made = [ContactChange.from_json(change) for change in changes]
    for change in made:
        if await _now(change.key, context) not in (_bare(change.after), _bare(change.before)):
            raise ToolFailed(
                gettext("{name} was changed after that, so it stays as it is now.", name=change.contact.name)
            )
    numbers = [await _put(change.key, change.before, context) for change in reversed(made)]
    if len(made) > 1:
        return gettext("Undone: your contacts are as they were.")
    was = read_contact(made[0].before, made[0].key, numbers[0])
    if made[0].before is None:
        return gettext("Undone: {name} is no longer kept.", name=made[0].contact.name)
    return gettext("Undone. Contact {number} is again: {contact}", number=was.number, contact=was.shown())


async def _now(key: str, context: ToolExecutionContext) -> dict[str, Any] | None:
    stored = await context.storage.get(COLLECTION, key)
    return _bare(stored.value) if stored else None


def _bare(value: Any) -> dict[str, Any] | None:
    """Return a stored value in the present form of a contact, without its key and number."""
    return None if value is None else read_contact(value, "", 0).to_json()


async def _put(key: str, value: dict[str, Any] | None, context: ToolExecutionContext) -> int:
    if value is None:
        await context.storage.delete(COLLECTION, key)
        return 0
    return (await context.storage.put(COLLECTION, key, value)).number
