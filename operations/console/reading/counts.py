"""The numbers of waiting entries on the pages of the bar, counted up to a limit, and whether all work is halted."""

from collections.abc import Mapping

from core.db.database import fetch_one
from operations.console.access import Scope

MOST = 100
_OF_EVERYBODY = (
    "select (select count(*) from console_waiting(null, '', $1)) as waiting,"
    " (select count(*) from find_unsettled('', '', null, '', $1)) as deliveries, is_halted()::int as halted"
)
_OWN = (
    "select (select count(*) from (select 1 from approvals where tenant_id = $1 and state = 'pending'"
    "  union all select 1 from pool_entries where tenant_id = $1"
    "  and status not in ('CANCELLED', 'COMPLETED', 'WAITING_FOR_APPROVAL') limit $2) w) as waiting,"
    " (select count(*) from find_unsettled($1, '', null, '', $2::int)) as deliveries, is_halted()::int as halted"
)


async def count_open(scope: Scope) -> Mapping[str, str]:
    """Return the number at each page that has something for its viewer, as the bar shows it.

    Under `halted` something is counted while all work is halted.
    """
    viewer = scope.viewer
    if viewer.operator:
        row = await scope.everybody().one(_OF_EVERYBODY, MOST)
    else:
        async with scope.tenant(viewer.tenant_id) as connection:
            row = await fetch_one(connection, _OWN, viewer.tenant_id, MOST)
    return {name: f"{MOST - 1}+" if count >= MOST else str(count) for name, count in row.items() if count}
