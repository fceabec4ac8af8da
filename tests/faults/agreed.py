"""What a person has agreed to in advance: put there before a process is struck, and counted afterwards."""

from datetime import UTC, datetime, timedelta

import asyncpg

from core.consents.shape import WantedConsent, build_shape, target_of
from core.consents.types import Agreed
from tests.faults.harness import Harness
from tests.plugins.faults import act_agreed

_PUT = """
insert into standing_consents (tenant_id, id, number, turn_id, approval_id, name, sealed, hash, told, max_uses,
                               expires_at, created_at)
values ($1, 'cns_' || $1, 1, '', '', $2, $3, $4, 'digest', 5, $5, now())
"""
_COUNT = """
select c.used, (select count(*) from consent_uses u where u.tenant_id = c.tenant_id) as recorded,
       (select count(*) from notifications n where n.tenant_id = c.tenant_id and n.category = 'consent') as told
from standing_consents c join inbound i on i.tenant_id = c.tenant_id where i.text = $1
"""


async def agree(harness: Harness, body: str) -> None:
    """Have the person who wrote a text agree in advance to what it asks for."""
    target = target_of(act_agreed)
    until = (datetime.now(UTC) + timedelta(days=30)).replace(microsecond=0)
    bounds = build_shape(target, WantedConsent({}, {}, {}, {"saying": 20}))
    connection = await harness.connect()
    try:
        tenant = await connection.fetchval("select tenant_id from inbound where text = $1", body)
        agreed = Agreed(tenant, target.name, target.version, bounds, 5, until, "digest")
        await connection.execute(_PUT, tenant, agreed.tool, agreed.sealed, agreed.hash, until)
    finally:
        await connection.close()


async def count_uses(connection: asyncpg.Connection, body: str) -> int:
    """Return how often it was used: as counted, recorded and told, which must be the same; -1 where it is not."""
    row = await connection.fetchrow(_COUNT, body)
    if row is None:
        return 0
    return int(row["used"]) if row["used"] == row["recorded"] == row["told"] else -1
