-- What was used by day: summed when a turn ends and when an answer was sent, read by the console.

-- Returns the person's own day; UTC's where the zone is not known here, whose list may be older than Python's.
create function day_of_person(p_tenant text, p_at timestamptz)
returns date
language plpgsql stable as $$
declare
    v_zone text := (select nullif(t.timezone, '') from tenants t where t.tenant_id = p_tenant);
begin
    return (p_at at time zone coalesce(v_zone, 'UTC'))::date;
exception when invalid_parameter_value then
    return (p_at at time zone 'UTC')::date;
end $$;

-- Returns the task that a turn works on, null for none. Plans once a session.
create function task_of_turn(p_tenant text, p_turn text)
returns text
language plpgsql stable as $$
begin
    return (select w.task_id from (
        select null::text as task_id where false
        -- The ids of tasks come from their sql/task_of_turn.sql.
        ) w limit 1);
end $$;

-- Adds a turn that has ended, with its steps, to the sums of its day.
create function add_turn_usage()
returns trigger
language plpgsql as $$
declare
    v_day date := day_of_person(new.tenant_id, new.finished_at);
    v_task text := coalesce(task_of_turn(new.tenant_id, new.id), '');
begin
    insert into usage_days as u (tenant_id, day, task_id, kind, name, calls, failed, input_tokens, output_tokens,
                                 cached_tokens, cost, took_ms)
    select new.tenant_id, v_day, v_task, x.kind, x.name, sum(x.calls), sum(x.failed),
           coalesce(sum((x.usage ->> 'input_tokens')::bigint), 0),
           coalesce(sum((x.usage ->> 'output_tokens')::bigint), 0),
           coalesce(sum((x.usage ->> 'cached_tokens')::bigint), 0), coalesce(sum((x.usage ->> 'cost')::numeric), 0),
           sum(x.took_ms)
    from (select s.kind, s.name, 1 as calls, (s.outcome not in ('ok', 'handed_over'))::int as failed,
                 s.duration_ms::bigint as took_ms,
                 case when s.kind = 'model' then s.usage else '{}' end as usage
          from steps s
          where s.tenant_id = new.tenant_id and s.turn_id = new.id and s.kind in ('model', 'tool', 'agent')
          union all
          select 'agent', regexp_replace(s.agent_path, '^.*/', ''), 0, 0, 0, s.usage from steps s
          where s.tenant_id = new.tenant_id and s.turn_id = new.id and s.kind = 'model' and s.agent_path <> ''
          union all
          select 'background', 'judging', 1, 0, s.duration_ms::bigint, s.usage from steps s
          where s.tenant_id = new.tenant_id and s.turn_id = new.id and s.kind = 'judge'
          union all
          select 'message', 'received', 1, 0, 0, '{}' from inbound i
          where i.tenant_id = new.tenant_id and i.turn_id = new.id
          union all
          select 'turn', new.state, 1, (new.state in ('failed', 'poison'))::int,
                 (extract(epoch from new.finished_at - new.started_at) * 1000)::bigint, '{}') x
    group by x.kind, x.name order by x.kind, x.name
    on conflict (tenant_id, day, task_id, kind, name) do update
    set calls = u.calls + excluded.calls, failed = u.failed + excluded.failed,
        input_tokens = u.input_tokens + excluded.input_tokens, output_tokens = u.output_tokens + excluded.output_tokens,
        cached_tokens = u.cached_tokens + excluded.cached_tokens, cost = u.cost + excluded.cost,
        took_ms = u.took_ms + excluded.took_ms;
    return null;
end $$;

create or replace trigger turns_usage after update of state on turns for each row
when (old.finished_at is null and new.finished_at is not null) execute function add_turn_usage();

-- Counts an answer by how long its person waited: from their first message to the provider's word that it was taken. A turn
-- that asked the person something is left out: it waited for them.
create function add_answer_time()
returns trigger
language plpgsql as $$
declare
    v_since timestamptz := (select min(i.received_at) from inbound i
                            where i.tenant_id = new.tenant_id and i.turn_id = new.turn_id);
    v_ms numeric := greatest(1, extract(epoch from new.sent_at - v_since) * 1000);
begin
    -- What the same turn said before stands just before it: no more than that is looked at.
    if v_since is null or exists (select 1 from outbound o where o.tenant_id = new.tenant_id
                                  and o.conversation_id = new.conversation_id
                                  and o.seq between new.seq - 20 and new.seq - 1 and o.turn_id = new.turn_id) then
        return null;
    end if;
    insert into usage_days as u (tenant_id, day, kind, name, calls, took_ms)
    values (new.tenant_id, day_of_person(new.tenant_id, new.sent_at), 'answer', ceil(4 * log(2, v_ms))::int::text, 1, v_ms)
    on conflict (tenant_id, day, task_id, kind, name) do update
    set calls = u.calls + 1, took_ms = u.took_ms + excluded.took_ms;
    return null;
end $$;

create or replace trigger outbound_answer_time after update of state on outbound for each row
when (old.sent_at is null and new.sent_at is not null and new.kind = 'reply' and new.turn_id is not null)
execute function add_answer_time();

-- Adds one call of a model outside the steps of turns to the sums of the person's day. p_work: what it was for, in a word.
create function add_background_usage(p_tenant text, p_work text, p_usage jsonb, p_took_ms bigint)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into usage_days as u (tenant_id, day, kind, name, calls, input_tokens, output_tokens, cached_tokens, cost, took_ms)
    select t.tenant_id, day_of_person(p_tenant, clock_timestamp()), 'background', p_work, 1,
           coalesce((p_usage ->> 'input_tokens')::bigint, 0), coalesce((p_usage ->> 'output_tokens')::bigint, 0),
           coalesce((p_usage ->> 'cached_tokens')::bigint, 0), coalesce((p_usage ->> 'cost')::numeric, 0), p_took_ms
    from tenants t where t.tenant_id = p_tenant
    on conflict (tenant_id, day, task_id, kind, name) do update
    set calls = u.calls + 1, input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens,
        cached_tokens = u.cached_tokens + excluded.cached_tokens, cost = u.cost + excluded.cost,
        took_ms = u.took_ms + excluded.took_ms;
end $$;

-- Sums days of everybody that are over, once: a day's rows are many, and its sums are few.
create function sum_closed_days(p_from date, p_to date)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_missing date[] := array(select d::date from generate_series(p_from, p_to, interval '1 day') d
                              where not exists (select from usage_totals t where t.day = d::date));
begin
    insert into usage_totals as t (day, kind, name, calls, failed, input_tokens, output_tokens, cached_tokens, cost, took_ms)
    select u.day, u.kind, u.name, sum(u.calls), sum(u.failed), sum(u.input_tokens), sum(u.output_tokens),
           sum(u.cached_tokens), sum(u.cost), sum(u.took_ms)
    from usage_days u where u.day = any (v_missing) group by u.day, u.kind, u.name
    union all
    select s.day, 'spent', '', 0, 0, 0, 0, 0, sum(s.spent), 0
    from spending s where s.task_id = '' and s.day = any (v_missing) group by s.day
    union all
    select s.day, 'texts', '', 0, 0, 0, 0, 0, sum(x.spent), 0
    from spending s cross join lateral (  -- by its key, each: a join would read the whole table
        select t.spent from spending t where t.tenant_id = s.tenant_id and t.day = s.day and t.task_id = 'texts' limit 1) x
    where s.task_id = '' and s.day = any (v_missing) group by s.day
    union all
    select g.day, 'segment', '', sum(g.segments), 0, 0, 0, 0, 0, 0
    from segment_days g where g.day = any (v_missing) group by g.day
    on conflict do nothing;
end $$;

-- What everybody used, for operators: sums, and ids of those for whom most was spent. p_closed: the last day that is over
-- everywhere.
create function console_usage(p_from date, p_to date, p_closed date)
returns table (day date, kind text, name text, calls bigint, failed bigint, input_tokens bigint, output_tokens bigint,
               cached_tokens bigint, cost numeric, took_ms bigint)
language sql security definer set search_path = public, pg_temp as $$
    select sum_closed_days(p_from, least(p_to, p_closed));
    select t.day, t.kind, t.name, t.calls, t.failed, t.input_tokens, t.output_tokens, t.cached_tokens, t.cost, t.took_ms
    from usage_totals t where t.day between p_from and least(p_to, p_closed)
    union all
    select s.day, 'spent', '', 0, 0, 0, 0, 0, sum(s.spent), 0 from spending s
    where s.task_id = '' and s.day between greatest(p_from, p_closed + 1) and p_to group by s.day
    union all
    select s.day, 'texts', '', 0, 0, 0, 0, 0, sum(x.spent), 0
    from spending s cross join lateral (  -- by its key, each: a join would read the whole table
        select t.spent from spending t where t.tenant_id = s.tenant_id and t.day = s.day and t.task_id = 'texts' limit 1) x
    where s.task_id = '' and s.day between greatest(p_from, p_closed + 1) and p_to group by s.day
    union all
    select g.day, 'segment', '', sum(g.segments), 0, 0, 0, 0, 0, 0 from segment_days g
    where g.day between greatest(p_from, p_closed + 1) and p_to group by g.day
    union all
    select u.day, u.kind, u.name, sum(u.calls)::bigint, sum(u.failed)::bigint, sum(u.input_tokens)::bigint,
           sum(u.output_tokens)::bigint, sum(u.cached_tokens)::bigint, sum(u.cost), sum(u.took_ms)::bigint
    from usage_days u where u.day between greatest(p_from, p_closed + 1) and p_to group by u.day, u.kind, u.name
$$;

create function console_spenders(p_from date, p_to date, p_limit int)
returns table (tenant_id text, spent numeric, segments bigint, calls bigint, failed bigint, input_tokens bigint,
               output_tokens bigint, cached_tokens bigint, cost numeric, took_ms bigint, texts numeric)
language sql stable security definer set search_path = public, pg_temp as $$
    select tenant_id, greatest(coalesce(s.spent, 0), coalesce(u.cost, 0) + coalesce(s.texts, 0)) as most, coalesce(g.segments, 0),
           coalesce(u.calls, 0), coalesce(u.failed, 0), coalesce(u.input_tokens, 0), coalesce(u.output_tokens, 0),
           coalesce(u.cached_tokens, 0), coalesce(u.cost, 0), coalesce(u.took_ms, 0), coalesce(s.texts, 0)
    from (select x.tenant_id, sum(x.spent) as spent, sum(t.spent) as texts from spending x
          left join lateral (
              select o.spent from spending o
              where o.tenant_id = x.tenant_id and o.day = x.day and o.task_id = 'texts' limit 1) t on true
          where x.task_id = '' and x.day between p_from and p_to group by x.tenant_id) s
    full join (select x.tenant_id, sum(x.segments)::bigint as segments from segment_days x
               where x.day between p_from and p_to group by x.tenant_id) g using (tenant_id)
    full join (select x.tenant_id, sum(x.calls)::bigint as calls, sum(x.failed)::bigint as failed,
                      sum(x.input_tokens)::bigint as input_tokens, sum(x.output_tokens)::bigint as output_tokens,
                      sum(x.cached_tokens)::bigint as cached_tokens, sum(x.cost) as cost, sum(x.took_ms)::bigint as took_ms
               from (select * from usage_days d where d.kind = 'model' and d.day between p_from and p_to
                     union all
                     select * from usage_days d where d.kind = 'background' and d.day between p_from and p_to) x
               group by x.tenant_id) u using (tenant_id)
    order by most desc, tenant_id limit p_limit
$$;

create function console_task_usage(p_from date, p_to date, p_limit int)
returns table (tenant_id text, task_id text, calls bigint, failed bigint, input_tokens bigint, output_tokens bigint,
               cached_tokens bigint, cost numeric, took_ms bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select u.tenant_id, u.task_id, sum(u.calls)::bigint, sum(u.failed)::bigint, sum(u.input_tokens)::bigint,
           sum(u.output_tokens)::bigint, sum(u.cached_tokens)::bigint, sum(u.cost) as cost, sum(u.took_ms)::bigint
    from usage_days u where u.kind = 'model' and u.task_id <> '' and u.day between p_from and p_to
    group by u.tenant_id, u.task_id order by sum(u.cost) desc, u.task_id limit p_limit
$$;
