"""What an owner of tables does when two people become one, and when they part again."""

from dataclasses import dataclass
from datetime import datetime

from core.db.database import Connection


@dataclass(frozen=True, slots=True)
class Parting:
    """A link that is taken back: `link_id` of `tenant_id`, from whom `other_id` parts; `now` is people's time."""

    tenant_id: str
    other_id: str
    link_id: str
    now: datetime


class MergeHook:
    """What an owner of tables does when two people become one or part again, beside the rows that are moved.

    All are called inside the one transaction, with foreign keys checked late; whatever is raised undoes it all.
    """

    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        """Make `gone`'s rows fit to be `kept`'s: seal anew, rename. The connection sees `gone`'s rows."""

    async def after(self, connection: Connection, kept: str, gone: str) -> None:
        """Put in order what is together now. The connection sees `kept`'s rows, and `gone` has none."""

    async def before_parting(self, connection: Connection, parting: Parting) -> None:
        """Make what goes back to the other one fit to be theirs again; all rows are still the person's."""

    async def after_parting(self, connection: Connection, parting: Parting) -> None:
        """Put in order what each of the two has now."""
