"""After an act: tell members, and lift children's limits. Any number of workers may run: each act is handled once."""

from functools import partial

import asyncpg

from abilities.household import sentences
from abilities.household.types import Deed, Outcome
from core.db.database import Database
from core.language.catalogue import speaking
from core.notifications.types import Notification, Notifier
from core.queue.rounds import take_each

DUE = "household news"
"""The kind of work that `sql/due.sql` names if there is any."""
CATEGORY = "household"
_AT_ONCE = 50
_READ = """
select n.kind, n.about, t.language from household_news n join tenants t on t.tenant_id = n.tenant_id
where n.tenant_id = $1 and n.id = $2
"""


async def follow_deeds(database: Database, notifier: Notifier) -> None:
    """Lift the limits that an adult's word ended, and hand all news to the notifier."""
    limits = await database.rows("select * from claim_limits_to_lift($1)", _AT_ONCE)
    await take_each(limits, partial(_lift, database), "limits_not_lifted")
    news = await database.rows("select * from claim_household_news($1)", _AT_ONCE)
    await take_each(news, partial(_tell, database, notifier), "household_news_failed")


async def _lift(database: Database, due: asyncpg.Record) -> None:
    await database.rows("select lift_limits($1)", due["tenant_id"])


async def _tell(database: Database, notifier: Notifier, due: asyncpg.Record) -> None:
    tenant_id, id = due["tenant_id"], due["id"]
    row = await database.tenant_row(tenant_id, _READ, id)
    if row is None:
        return
    with speaking(row["language"]):
        text = sentences.news(row["kind"], Deed.from_json({"outcome": Outcome.CHANGED, **row["about"]}), tenant_id)
    # Names are words of others.
    await notifier.notify(tenant_id, Notification(text, CATEGORY, dedupe_key=f"household {id}", outside=True))
    await database.tenant_rows(tenant_id, "delete from household_news where tenant_id = $1 and id = $2", id)
