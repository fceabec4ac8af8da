"""People with a history and memories, created by statements over all rows: as many as outgrow a single machine."""

from collections.abc import Sequence

import asyncpg

from workbench.benchmarks import memories
from workbench.simulator.config import Person

EXCHANGES = 10
"""Of each person: messages that were received, each with its turn, step, answer and delivery."""

MEMORIES = 5
"""Of each person."""
_LARGE = ("inbound", "turns", "steps", "outbound", "outbound_parts", "deliveries", "memories")


async def fill(url: str, count: int, known: Sequence[Person], account: str) -> int:
    """Fill a migrated database with people, the first of whom are known; return its size in bytes.

    `account`: our number, which all of them write to. Foreign keys and triggers are left out: they hold by how it is
    made.
    """
    connection = await asyncpg.connect(
        url,
        server_settings={
            "session_replication_role": "replica",
            "synchronous_commit": "off",
            "maintenance_work_mem": "512MB",
        },
    )
    try:
        indexes = await connection.fetch(
            "select i.indexname, i.indexdef from pg_indexes i where i.schemaname = 'public' and i.tablename = any ($1)"
            " and not exists (select from pg_constraint c where c.conname = i.indexname)",
            _LARGE,
        )
        for index in indexes:
            await connection.execute(f"drop index {index['indexname']}")
        for statement, arguments in _statements(count, [person.phone for person in known], account):
            await connection.execute(statement, *arguments)
        await memories.fill(connection, "tn_%", MEMORIES)
        for index in indexes:
            await connection.execute(index["indexdef"])
        await connection.execute("vacuum analyze")
        return int(await connection.fetchval("select pg_database_size(current_database())"))
    finally:
        await connection.close()


def _statements(count: int, phones: Sequence[str], account: str) -> list[tuple[str, tuple[object, ...]]]:
    """Return the statements that create them, each with its arguments."""
    return [
        (
            "insert into tenants (tenant_id, name, timezone, role, created_at)"
            " select 'tn_' || lpad(n::text, 7, '0'), 'Person ' || n, 'Europe/Berlin', 'member',"
            "  now() - interval '90 days' from generate_series(1, $1::int) n",
            (count,),
        ),
        (
            "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
            " select 'tn_' || lpad(n::text, 7, '0'), 'idn_' || lpad(n::text, 7, '0'), 'sms', $3,"
            "  coalesce(($2::text[])[n], '+1666' || lpad(n::text, 7, '0')), 'open' from generate_series(1, $1::int) n",
            (count, phones, account),
        ),
        (
            "insert into directory (channel, account, user_key, person, identity_id)"
            " select channel, account, user_key, tenant_id, id from identities",
            (),
        ),
        (
            "insert into conversations (tenant_id, id, identity_id, channel, account, peer, in_seq, out_seq,"
            "  created_at, last_inbound_at)"
            " select tenant_id, 'cnv' || substr(id, 4), id, channel, account, user_key, $1::int, $1::int,"
            "  now() - interval '90 days', now() - interval '1 day' from identities",
            (EXCHANGES,),
        ),
        ("insert into lanes (tenant_id, id, conversation_id) select tenant_id, id, id from conversations", ()),
        ("create unlogged table talk (tenant text, conversation text, seq int, key text, at timestamptz)", ()),
        (
            "insert into talk select c.tenant_id, c.id, n, substr(c.id, 5) || '_' || n,"
            "  now() - interval '1 day' - ($1::int - n) * interval '8 days'"
            " from conversations c, generate_series(1, $1::int) n",
            (EXCHANGES,),
        ),
        *((statement, ()) for statement in _HISTORY),
    ]


_HISTORY = (
    "insert into inbound (tenant_id, id, conversation_id, seq, text, provider_id, received_at, state, turn_id)"
    " select tenant, 'inb_' || key, conversation, seq, 'Remind me tomorrow at eight of number ' || key, 'SM' || key,"
    "  at, 'done', 'trn_' || key from talk",
    "insert into turns (tenant_id, id, lane_id, conversation_id, state, fence, started_at, finished_at, usage)"
    " select tenant, 'trn_' || key, conversation, conversation, 'done', 1, at, at + interval '2 s',"
    '  \'{"input_tokens": 900, "output_tokens": 40}\' from talk',
    "insert into steps (tenant_id, turn_id, step, call_index, kind, name, state, outcome, duration_ms, started_at,"
    "  finished_at, result, usage)"
    " select tenant, 'trn_' || key, 1, 0, 'model', 'gpt-5', 'done', 'ok', 700, at, at + interval '1 s',"
    "  jsonb_build_object('text', 'An answer of some length to number ' || key),"
    '  \'{"input_tokens": 900, "output_tokens": 40, "cost": 0.0012}\' from talk',
    "insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, state, seq, created_at, sent_at)"
    " select tenant, 'out_' || key, conversation, 'trn_' || key, 'reply', 'An answer of some length to number ' || key,"
    "  'sent', seq, at + interval '2 s', at + interval '3 s' from talk",
    "insert into outbound_parts (tenant_id, outbound_id, part, ref, text, state, provider_id, status, status_at,"
    "  sent_at)"
    " select tenant_id, id, 1, 'ref_' || id, text, 'sent', 'SM' || id, 'delivered', sent_at, sent_at from outbound",
    "insert into deliveries (tenant_id, outbound_id, part, attempt, owner, started_at, finished_at, outcome,"
    "  provider_id)"
    " select tenant_id, id, 1, 1, 'w', created_at, sent_at, 'accepted', 'SM' || id from outbound",
    "drop table talk",
)
