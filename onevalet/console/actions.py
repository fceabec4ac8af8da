"""What people do in the console, each action written down before it is done."""

import re
from dataclasses import dataclass

from core.clock import Clock
from core.console.sign_in import Viewer
from core.db.database import Database
from core.ids import IdMaker

_KEY = re.compile(r"con_\w{1,60}")


@dataclass(frozen=True, slots=True)
class Actions:
    """Make the keys of forms, and record what was asked for by them."""

    database: Database
    clock: Clock
    make_id: IdMaker

    def new_key(self) -> str:
        """Return the key of a form: sent twice, as by a double click, it does its action once."""
        return self.make_id("con")

    def read_key(self, given: str) -> str:
        """Return the key that a form sent, or a new one where it is none of ours."""
        return given if _KEY.fullmatch(given) else self.new_key()

    async def record(self, viewer: Viewer, tenant_id: str, what: str, subject: str) -> None:
        """Record that a viewer asks for an action on what is a person's."""
        await self.database.tenant_rows(
            tenant_id,
            "insert into console_actions (tenant_id, id, viewer, what, subject, at) values ($1, $2, $3, $4, $5, $6)",
            self.make_id("act"),
            viewer.tenant_id,
            what,
            subject,
            self.clock.now(),
        )
