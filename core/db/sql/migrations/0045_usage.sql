-- was 815571dc9ce83bf1c115670e9ac756bdb5847e122b55df65fb8ab75ab668ec42
-- What was used, summed by day. Workers add a turn when it ends and an answer when it was sent; a webhook adds nothing.

-- Sums of a person's day. kind and name: a model; a tool or an agent; a `message` that was received; a `turn` by how it
-- ended; an `answer` by how long it took, name being 4 * log2 of its milliseconds, rounded up. An agent's tokens and cost
-- are those of its own model calls, which their model counts as well. task_id is '' for what was no task's.
create table usage_days (
    tenant_id     text not null references tenants on delete cascade,
    day           date not null,
    task_id       text not null default '',
    kind          text not null check (kind in ('model', 'tool', 'agent', 'message', 'turn', 'answer')),
    name          text not null,
    calls         bigint not null default 0,
    failed        bigint not null default 0,
    input_tokens  bigint not null default 0,
    output_tokens bigint not null default 0,
    cached_tokens bigint not null default 0,
    cost          numeric(14, 8) not null default 0,
    took_ms       bigint not null default 0,
    primary key (tenant_id, day, task_id, kind, name)
);
select tenant_table('usage_days');

-- The sums of everybody's days that are over, for operators: nobody's data. The console adds a day when it is first looked at.
-- Besides the kinds above: what was `spent`, as cost, and each `segment` of SMS, as calls.
create table usage_totals (
    day           date not null,
    kind          text not null,
    name          text not null,
    calls         bigint not null,
    failed        bigint not null,
    input_tokens  bigint not null,
    output_tokens bigint not null,
    cached_tokens bigint not null,
    cost          numeric(20, 8) not null,
    took_ms       bigint not null,
    primary key (day, kind, name)
);
select shared_table('usage_totals', 'select');

-- What was there before: a database without tasks is new. Times to answer are counted from now on.
do $$
begin
    if to_regclass('task_runs') is not null then
        insert into usage_days (tenant_id, day, task_id, kind, name, calls, failed, input_tokens, output_tokens, cached_tokens, cost,
                                took_ms)
        select x.tenant_id, x.day, x.task_id, x.kind, x.name, sum(x.calls), sum(x.failed),
               coalesce(sum((x.usage ->> 'input_tokens')::bigint), 0), coalesce(sum((x.usage ->> 'output_tokens')::bigint), 0),
               coalesce(sum((x.usage ->> 'cached_tokens')::bigint), 0), coalesce(sum((x.usage ->> 'cost')::numeric), 0),
               sum(x.took_ms)
        from (with ended as (
                  select t.*, (t.finished_at at time zone coalesce(z.name, 'UTC'))::date as day,
                         coalesce((select r.task_id from task_runs r
                                   where r.tenant_id = t.tenant_id and r.turn_id = t.id limit 1), '') as task_id
                  from turns t join tenants p on p.tenant_id = t.tenant_id
                  left join pg_timezone_names z on z.name = p.timezone
                  where t.finished_at is not null)
              select t.tenant_id, t.day, t.task_id, s.kind, s.name, 1 as calls, (s.outcome not in ('ok', 'handed_over'))::int as failed,
                     case when s.kind = 'model' then s.usage else '{}' end as usage, s.duration_ms::bigint as took_ms
              from ended t join steps s on s.tenant_id = t.tenant_id and s.turn_id = t.id and s.kind in ('model', 'tool', 'agent')
              union all
              select t.tenant_id, t.day, t.task_id, 'agent', regexp_replace(s.agent_path, '^.*/', ''), 0, 0, s.usage, 0
              from ended t join steps s on s.tenant_id = t.tenant_id and s.turn_id = t.id and s.kind = 'model' and s.agent_path <> ''
              union all
              select t.tenant_id, t.day, t.task_id, 'message', 'received', 1, 0, '{}', 0
              from ended t join inbound i on i.tenant_id = t.tenant_id and i.turn_id = t.id
              union all
              select t.tenant_id, t.day, t.task_id, 'turn', t.state, 1, (t.state in ('failed', 'poison'))::int, '{}',
                     (extract(epoch from t.finished_at - t.started_at) * 1000)::bigint
              from ended t) x
        group by x.tenant_id, x.day, x.task_id, x.kind, x.name;
    end if;
end $$;

create index usage_days_day on usage_days (day);
create index usage_days_models on usage_days (day) where kind = 'model';
create index usage_days_tasks on usage_days (day) where kind = 'model' and task_id <> '';
create index spending_day on spending (day) where task_id = '';
create index segment_days_day on segment_days (day);
-- An answer of a turn, which the console and `trace` look for.
create index outbound_turn on outbound (tenant_id, turn_id) where turn_id is not null;
-- What went wrong, which is counted and listed, is little of all.
create index outbound_trouble on outbound (state, created_at desc, id) where state in ('failed', 'ambiguous');
-- The open turn of a conversation, which the list of conversations shows.
create index turns_open on turns (tenant_id, conversation_id) where state in ('running', 'waiting');
create index turns_poison on turns (started_at desc, id) where state = 'poison';
