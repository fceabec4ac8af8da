"""Somebody besides the asker whose consent an action needs; an ability knows who may be asked, and asks them."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Protocol

from core.approvals.consent import Consent
from core.json_types import JsonObject
from core.messaging.messages import FormField


@dataclass(frozen=True, slots=True)
class OtherDecider:
    """Somebody who must agree, too. `id` is their tenant, `name` as the asker knows them, `language` their own.

    `waits`: how long they are left alone before they are asked.
    """

    id: str
    name: str
    language: str | None = None
    waits: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class AlsoAsked:
    """A request as the other person is asked: the card's heading, labels and texts, and its form, in their language."""

    who: OtherDecider
    summary: str
    rendered: tuple[tuple[str, str], ...]
    form: tuple[FormField, ...] = ()

    def to_json(self) -> JsonObject:
        """Return it as `write_approval` hands it to the ability."""
        return {
            "id": self.who.id,
            "name": self.who.name,
            "summary": self.summary,
            "shown": [list(pair) for pair in self.rendered],
            "form": [asdict(form_field) for form_field in self.form],
        }


class OtherDeciders(Protocol):
    """The people whom one person may have asked, too."""

    async def find(self, named: str = "", person: str = "") -> OtherDecider:
        """Return somebody by name, or by their tenant. Raises `core.errors.ToolError` if they cannot be asked."""
        ...

    async def agreed(self, approval_id: str) -> Consent:
        """Return whether the other person agrees, once the asker does: GRANTED can no longer be taken back."""
        ...
