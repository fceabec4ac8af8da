"""A million messages, as an installation of 500 people has them after half a year, made by statements over all rows."""

import asyncio
from collections.abc import Sequence

import asyncpg

PEOPLE, DAYS, TURNS = 500, 180, 500_000
"""Every turn has a message received and one sent. A tenth of all is one person's, so that one has very many."""
HEAVY = "tn_0000"
LARGE = frozenset(
    {"inbound", "outbound", "outbound_parts", "deliveries", "turns", "steps", "message_words", "usage_days", "spending"}
)
"""The tables that no page may read from end to end."""

_PEOPLE = f"""
insert into tenants (tenant_id, name, timezone, role, created_at)
select 'tn_' || lpad(n::text, 4, '0'), 'Person ' || n, 'Europe/Berlin', 'member', now() - interval '{DAYS} days'
from generate_series(0, {PEOPLE - 1}) n;
insert into identities (tenant_id, id, channel, account, user_key, admitted)
select tenant_id, 'idn_' || tenant_id || x.channel, x.channel, '+15550009999', '+1666' || substr(tenant_id, 4),
       'open'
from tenants, (values ('sms'), ('slack')) x(channel) where tenant_id like 'tn\\_____';
insert into directory (channel, account, user_key, person, identity_id)
select channel, account, user_key, tenant_id, id from identities where tenant_id like 'tn\\_____';
insert into conversations (tenant_id, id, identity_id, channel, account, peer, created_at)
select tenant_id, 'cnv_' || id, id, channel, account, user_key, now() - interval '{DAYS} days' from identities
where tenant_id like 'tn\\_____';
insert into lanes (tenant_id, id, conversation_id)
select tenant_id, id, id from conversations where id like 'cnv\\_idn%';
create function said_words(n bigint, salt int) returns text language sql immutable as $$
    select string_agg('w' || (n * k * 7919 + salt) % 4001, ' ') || case when n % 20000 = 11 then ' boiler' else '' end
           || case when n % 100 = 7 then ' plumber' else '' end || case when n % 2 = 0 then ' today' else '' end
    from generate_series(1, 11) k
$$;
"""  # noqa: S608
_RECEIVED = (
    "insert into inbound (tenant_id, id, conversation_id, seq, text, provider_id, received_at, state, turn_id)"
    " select tenant, 'inb_' || key, conversation, seq, said_words(n, 1), 'SM' || key, at, 'done', 'trn_' || key"
    " from talk",
)
_SENT = (
    "insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, state, seq, created_at, sent_at)"
    " select tenant, 'out_' || key, conversation, 'trn_' || key, 'reply', said_words(n, 2),"
    "  case when n % 200 = 3 then 'failed' when n % 2000 = 4 then 'ambiguous' else 'sent' end, seq,"
    "  at + interval '2 s', at + interval '3 s' from talk",
    "insert into outbound_parts (tenant_id, outbound_id, part, ref, text, state, provider_id, status, status_at,"
    "  sent_at)"
    " select tenant_id, id, 1, 'ref_' || id, text, state, 'SM' || id, 'delivered', sent_at, sent_at from outbound",
    "insert into deliveries (tenant_id, outbound_id, part, attempt, owner, started_at, finished_at, outcome,"
    "  provider_id)"
    " select tenant_id, id, 1, 1, 'w', created_at, sent_at,"
    "  case when state = 'sent' then 'accepted' else 'ambiguous' end, 'SM' || id from outbound",
)
_TURNS = (
    "insert into turns (tenant_id, id, lane_id, conversation_id, state, fence, started_at, finished_at, usage)"
    " select tenant, 'trn_' || key, conversation, conversation, case when n % 10000 = 5 then 'waiting'"
    "  when n % 10000 = 6 then 'poison' when n % 500 = 8 then 'failed' else 'done' end, 1, at,"
    "  case when n % 10000 <> 5 then at + interval '2 s' end, '{\"input_tokens\": 900, \"output_tokens\": 40}'"
    " from talk",
    "insert into steps (tenant_id, turn_id, step, call_index, kind, name, state, outcome, duration_ms, started_at,"
    "  finished_at, result, usage)"
    " select tenant, 'trn_' || key, x.step, x.call, x.kind, case x.kind when 'tool' then 'tool_' || n % 6 else"
    "  'gpt-5' || case when n % 7 = 0 then '-mini' else '' end end, 'done', 'ok', 700, at, at + interval '1 s',"
    "  jsonb_build_object('text', 'an answer of some length'), case x.kind when 'model' then"
    '  \'{"input_tokens": 900, "output_tokens": 40, "cached_tokens": 700, "cost": 0.0012}\'::jsonb else \'{}\' end'
    " from talk, (values (1, 0, 'model'), (1, 1, 'tool'), (2, 0, 'model')) x(step, call, kind)"
    " where x.step = 1 and x.call = 0 or n % 3 = 0",
)
_WORK = (
    "insert into tasks (tenant_id, id, number, title, kind, trigger, state, anchor, next_at, zone, created_at)"
    " select 'tn_' || lpad((n % 500)::text, 4, '0'), 'tsk_' || n, 1 + n / 500, 'Task ' || n, 'schedule',"
    "  '{\"cron\": \"0 8 * * *\"}', case when n % 9 = 0 then 'PAUSED' else 'ACTIVE' end, now(),"
    "  now() + n * interval '1 minute', 'Europe/Berlin', now() from generate_series(0, 4999) n",
    "insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, turn_id, created_at, finished_at)"
    " select t.tenant_id, 'run_' || t.id || '_' || d, t.id, d::text, now() - d * interval '1 day', 'COMPLETED',"
    "  (select 'trn_' || key from talk k where k.tenant = t.tenant_id and k.seq = 20 * t.number + d limit 1),"
    "  now() - d * interval '1 day', now() - d * interval '1 day'"
    " from tasks t, generate_series(1, 20) d where t.number <= 2",
    "insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments,"
    "  shown, code, token, timeout, sealed_head, sealed_tail, state, hash, expires_at, created_at)"
    " select tenant, 'apr_' || key, 'trn_' || key, '0.1', 1, conversation, 'send_email', 'Send it', '{}', '[]', key,"
    "  key, '1 hour', 'h', 't', case when n % 5000 = 9 then 'pending' else 'approved' end, 'h',"
    "  at + interval '1 hour', at"
    " from talk where n % 50 = 9",
    "insert into spending (tenant_id, day, spent) select tenant, at::date, 0.0012 * count(*) from talk group by 1, 2",
    "insert into segment_days (tenant_id, day, segments) select tenant, at::date, count(*) from talk group by 1, 2",
)
# Rows that triggers write as people talk; these statements are faster.
_MESSAGE_WORDS = (
    "insert into message_words (tenant_id, message_id, conversation_id, inward, at, words)"
    " select tenant_id, id, conversation_id, inward, at, message_words_of(tenant_id, text) from ("
    "  select tenant_id, id, conversation_id, true as inward, received_at as at, text from inbound where state = 'done'"
    "  union all select tenant_id, id, conversation_id, false, created_at, text from outbound where state = 'sent') x"
)
_USAGE = (
    "insert into usage_days (tenant_id, day, task_id, kind, name, calls, failed, input_tokens, output_tokens,"
    "  cached_tokens, cost, took_ms)"
    " select tenant_id, day, task_id, kind, name, count(*), count(*) filter (where failed),"
    "  coalesce(sum((usage ->> 'input_tokens')::bigint), 0), coalesce(sum((usage ->> 'output_tokens')::bigint), 0),"
    "  coalesce(sum((usage ->> 'cached_tokens')::bigint), 0), coalesce(sum((usage ->> 'cost')::numeric), 0),"
    "  sum(took_ms)"
    " from (with ended as ("
    "   select t.*, (t.finished_at at time zone coalesce(nullif(p.timezone, ''), 'UTC'))::date as day,"
    "    coalesce((select r.task_id from task_runs r"
    "     where r.tenant_id = t.tenant_id and r.turn_id = t.id limit 1), '') as task_id"
    "   from turns t join tenants p on p.tenant_id = t.tenant_id where t.finished_at is not null)"
    "  select t.tenant_id, t.day, t.task_id, s.kind, s.name, false as failed,"
    "   case when s.kind = 'model' then s.usage else '{}' end as usage, s.duration_ms as took_ms"
    "  from ended t join steps s on s.tenant_id = t.tenant_id and s.turn_id = t.id"
    "  union all select t.tenant_id, t.day, t.task_id, 'message', 'received', false, '{}', 0"
    "  from ended t join inbound i on i.tenant_id = t.tenant_id and i.turn_id = t.id"
    "  union all select t.tenant_id, t.day, t.task_id, 'turn', t.state, t.state in ('failed', 'poison'), '{}', 2000"
    "  from ended t) x"
    " group by 1, 2, 3, 4, 5"
)


async def fill(url: str, turns: int = TURNS, more: str = "") -> None:
    """Fill a migrated database with two messages for each of so many turns, and by `more` SQL; a superuser's URL."""
    admin = await _connect(url)
    indexes = [
        str(row["indexdef"])
        for row in await admin.fetch(
            "select i.indexdef from pg_indexes i where i.schemaname = 'public' and i.tablename = any ($1)"
            " and not exists (select from pg_constraint c where c.conname = i.indexname)",
            sorted(LARGE),
        )
    ]
    for definition in indexes:
        await admin.execute(f"drop index {definition.split()[definition.split().index('INDEX') + 1]}")
    await admin.execute(_PEOPLE)
    await admin.execute(_talk(turns))
    await _together(url, _RECEIVED, _SENT)
    await _together(url, [*_TURNS, *_WORK], ["analyze inbound", "analyze outbound", _MESSAGE_WORDS])
    await admin.execute("analyze turns, steps, task_runs")
    await admin.execute(_USAGE)
    await _together(url, indexes[::2], indexes[1::2])
    await admin.execute(
        "update conversations c set last_inbound_at = x.at, in_seq = x.seq, out_seq = x.seq from (select conversation,"
        " max(at) as at, max(seq) as seq from talk group by 1) x where c.id = x.conversation; drop table talk"
    )
    await admin.execute("drop function said_words")
    if more:
        await admin.execute(more)
    await admin.execute("vacuum analyze")
    await admin.close()


def _talk(turns: int) -> str:
    """Return what makes the table of all turns, from which the others are filled."""
    return f"""
create unlogged table talk as
select x.n, 'tn_' || x.person as tenant, 'cnv_idn_tn_' || x.person || x.channel as conversation,
       lpad(x.n::text, 7, '0') as key, now() - ({turns} - x.n) * (interval '{DAYS} days' / {turns}) as at,
       row_number() over (partition by x.person, x.channel order by x.n) as seq
from (select n, lpad((case when n % 10 = 0 then 0 else 1 + n * 7919::bigint % {PEOPLE - 1} end)::text, 4, '0')
             as person,
             (array['sms', 'slack'])[1 + n / 10 % 2] as channel
      from generate_series(1, {turns}) n) x
order by 2, 1;
create index on talk (tenant, seq);
analyze talk;
"""  # noqa: S608


async def _together(url: str, *parts: Sequence[str]) -> None:
    """Run statements in turn, each part on a connection of its own."""

    async def run(statements: Sequence[str]) -> None:
        connection = await _connect(url)
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    async with asyncio.TaskGroup() as group:
        for part in parts:
            group.create_task(run(part))


async def run_alone(url: str, statements: str) -> None:
    """Run statements that fill tables, without the checks of foreign keys."""
    connection = await _connect(url)
    await connection.execute(statements)
    await connection.close()


async def _connect(url: str) -> "asyncpg.Connection[asyncpg.Record]":
    """Connect without the checks of foreign keys, which hold by the way in which all is made."""
    return await asyncpg.connect(
        url,
        server_settings={
            "session_replication_role": "replica",
            "synchronous_commit": "off",
            "maintenance_work_mem": "512MB",
            "work_mem": "128MB",
        },
    )
