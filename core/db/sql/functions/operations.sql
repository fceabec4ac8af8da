-- Data for `doctor` and `trace`, and the health reports of workers.

create function find_trace(p_id text)
returns table (tenant_id text, turn_id text, inbound_id text, outbound_id text)
language sql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    select i.tenant_id, i.turn_id, i.id, null::text from inbound i where i.id = p_id
    union all
    select t.tenant_id, t.id, null, null from turns t where t.id = p_id
    union all
    select o.tenant_id, o.turn_id, null, o.id from outbound o where o.id = p_id
    union all
    select e.tenant_id, o.turn_id, null, o.id
    from outbound_parts e join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id
    where e.provider_id = p_id or e.ref = p_id
    union all
    select i.tenant_id, i.turn_id, i.id, null from inbound i where i.provider_id = p_id
    union all
    select k.tenant_id, i.turn_id, k.inbound_id, null
    from inbox_keys k left join inbound i on i.tenant_id = k.tenant_id and i.id = k.inbound_id where k.key = p_id
    limit 1
$$;

-- Counts for doctor and readiness; numbers only, over all tenants.
create function count_work()
returns table (waiting_messages bigint, running_turns bigint, open_outbound bigint, ambiguous bigint,
               failed bigint, poison bigint, oldest_waiting timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select (select count(*) from inbound where state = 'waiting'),
           (select count(*) from turns where state = 'running'),
           (select count(*) from outbound where state in ('ready', 'sending', 'checking')),
           (select count(*) from outbound where state = 'ambiguous'),
           (select count(*) from outbound where state = 'failed'),
           (select count(*) from turns where state = 'poison'),
           (select min(received_at) from inbound where state = 'waiting')
$$;

-- Lists what `trace` can explain: messages that could not be delivered, or nobody knows, and turns that were set aside, the
-- newest of each first; ids only, over all tenants.
create function find_trouble(p_limit int)
returns table (kind text, id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select w.kind, w.id
    from (select o.state as kind, o.id, row_number() over (partition by o.state order by o.created_at desc, o.id) as place
          from outbound o where o.state in ('failed', 'ambiguous')
          union all
          select t.state, t.id, row_number() over (order by t.started_at desc, t.id) from turns t where t.state = 'poison') w
    where w.place <= p_limit order by w.kind, w.place
$$;

-- Counts sends whose answer was lost, by what was found out; numbers only, over all tenants, for operators. "told": a
-- callback reported its arrival; "resent": not found, or sent again by the channel's policy.
create function count_lost_answers(p_within interval)
returns table (lost bigint, found bigint, told bigint, resent bigint, left_alone bigint, still_open bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select count(*), count(*) filter (where w.how = 'found'), count(*) filter (where w.how = 'told'),
           count(*) filter (where w.how = 'resent'), count(*) filter (where w.how = 'left'),
           count(*) filter (where w.how = 'open')
    from (select case
              when d.outcome in ('found', 'left') then d.outcome
              when exists (select 1 from deliveries n where n.tenant_id = d.tenant_id and n.outbound_id = d.outbound_id
                           and n.part = d.part and n.attempt > d.attempt) then 'resent'
              when e.state = 'sent' then 'told'
              when e.state = 'ambiguous' then 'left'
              else 'open' end as how
          from deliveries d join outbound_parts e
              on e.tenant_id = d.tenant_id and e.outbound_id = d.outbound_id and e.part = d.part
          where d.outcome in ('ambiguous', 'found', 'left')
            and d.finished_at > clock_timestamp() - p_within) w
$$;

create function probe_write()
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    perform set_config('lock_timeout', '1s', true);
    truncate write_probe;
    insert into write_probe select repeat('x', 4000) from generate_series(1, 32);
end $$;

-- Counts what an unforeseen error set aside, by kind, with the command that has it tried again; numbers only.
create function find_set_aside_work()
returns table (kind text, number bigint, retry text)
language sql stable security definer set search_path = public, pg_temp as $$
    select null::text, null::bigint, null::text where false
    -- Each kind comes from their sql/set_aside.sql.
$$;

-- Records a worker's health, and deletes workers that have been gone for an hour.
create function note_worker(p_worker text, p_ahead double precision, p_failing jsonb)
returns void
language plpgsql as $$
begin
    insert into worker_health as h (worker, seen_at, clock_ahead, failing)
    values (p_worker, clock_timestamp(), p_ahead, p_failing)
    on conflict (worker) do update
    set seen_at = excluded.seen_at, clock_ahead = excluded.clock_ahead, failing = excluded.failing;
    delete from worker_health h where h.seen_at < clock_timestamp() - interval '1 hour';
end $$;

-- Counts, per account of ours, the conversations whose answers have been retried for so long, and the messages that
-- were given up.
create function count_delayed(p_after interval)
returns table (channel text, account text, conversations bigint, since timestamptz, next_try timestamptz, reasons text)
language sql stable security definer set search_path = public, pg_temp as $$
    select c.channel, c.account, count(distinct c.id), min(d.first), min(o.next_attempt_at),
           string_agg(distinct nullif(o.reason, ''), '; ')
    from outbound o
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    join lateral (select min(x.started_at) as first from deliveries x
                  where x.tenant_id = o.tenant_id and x.outbound_id = o.id) d on d.first < clock_timestamp() - p_after
    where o.state in ('ready', 'sending', 'checking')
    group by c.channel, c.account order by 1, 2
$$;

create function count_given_up(p_within interval)
returns table (given_up bigint, told bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select count(*), count(o.told_missing_by) from outbound o
    where o.given_up_at > clock_timestamp() - p_within and o.state in ('ambiguous', 'failed')
$$;

-- Counts the cards that cannot be redrawn, which are stuck until an operator acts.
create function count_stuck_redraws()
returns int
language sql stable security definer set search_path = public, pg_temp as $$
    select count(*)::int from redraws r where r.state = 'given_up'
$$;
