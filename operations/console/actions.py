"""People's actions in the console, each recorded before it is carried out."""

import hashlib
import re
from dataclasses import dataclass

from core.clock import Clock
from core.ids import IdMaker
from operations.console.access import Scope, Viewer

_KEY = re.compile(r"con_\w{1,60}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Actions:
    """Make the keys of forms, and record the actions requested with them."""

    clock: Clock
    make_id: IdMaker

    def new_key(self) -> str:
        """Return the key of a form: sent twice, as by a double click, it does its action once."""
        return self.make_id("con")

    def read_key(self, given: str, viewer: Viewer, tenant_id: str) -> str:
        """Return a form's key, bound to its sender and its subject, or a new key.

        The same key from another sender becomes a different id, since ids are unique among all people.
        """
        if not _KEY.fullmatch(given):
            return self.new_key()
        said = "\0".join((viewer.tenant_id, tenant_id, given)).encode()
        return f"con_{hashlib.sha256(said).hexdigest()[:26]}"

    async def record(self, scope: Scope, tenant_id: str, what: str, subject: str) -> None:
        """Record that a viewer requests an action on a person's data."""
        await scope.tenant_rows(
            tenant_id,
            "insert into console_actions (tenant_id, id, viewer, what, subject, at) values ($1, $2, $3, $4, $5, $6)",
            self.make_id("act"),
            scope.viewer.tenant_id,
            what,
            subject,
            self.clock.now(),
        )
