"""Access to texts in the console: people read their own; operators by a setting, and each look is recorded."""

from dataclasses import dataclass
from datetime import datetime

from core.db.database import Connection
from core.ids import IdMaker
from operations.console.access import Viewer
from operations.console.visits import Visit


@dataclass(frozen=True, slots=True)
class Texts:
    """Decide about texts. `for_operators`: the setting ONEVALET_CONSOLE_TEXTS."""

    make_id: IdMaker
    for_operators: bool = False

    def may_preview(self, viewer: Viewer, tenant_id: str) -> bool:
        """Return whether the list shows a person's words: only to themselves, as a list is no look that is recorded."""
        return viewer.tenant_id == tenant_id

    async def look(
        self, connection: Connection, visit: Visit, tenant_id: str, what: str, subject: str, now: datetime
    ) -> bool:
        """Return whether the viewer may read a person's texts, and record the look at another person's texts.

        The opening of a page is such a look, and its updates are no further ones.
        """
        viewer = visit.viewer
        if viewer.tenant_id == tenant_id:
            return True
        if not (viewer.operator and self.for_operators):
            return False
        if visit.live:
            return True
        await connection.execute(
            "insert into console_looks (tenant_id, id, viewer, what, subject, at) values ($1, $2, $3, $4, $5, $6)",
            tenant_id,
            self.make_id("lok"),
            viewer.tenant_id,
            what,
            subject,
            now,
        )
        return True
