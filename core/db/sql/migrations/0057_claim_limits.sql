-- A subquery with a limit and `for update skip locked` that the planner puts on the inside of a nested loop runs once
-- per outer row, and each run locks further rows. A materialized CTE runs once: a claim takes what it was asked for.

create or replace function claim_redraw(p_ttl interval)
returns table(tenant_id text, outbound_id text, fence bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    with due as materialized (
        select d.tenant_id, d.outbound_id from redraws d
        join outbound o on o.tenant_id = d.tenant_id and o.id = d.outbound_id
        where d.state = 'due' and d.next_attempt_at <= clock_timestamp()
          and (d.lease_until is null or d.lease_until < clock_timestamp())
          and o.state in ('sent', 'ambiguous', 'failed')
        order by d.next_attempt_at limit 1 for update of d skip locked)
    update redraws r set lease_until = clock_timestamp() + p_ttl, fence = r.fence + 1, attempts = r.attempts + 1
    from due
    where r.tenant_id = due.tenant_id and r.outbound_id = due.outbound_id
    returning r.tenant_id, r.outbound_id, r.fence;
end $$;

create or replace function claim_memory_job(p_id text, p_owner text, p_lease interval)
returns table(tenant_id text, id text, attempts int)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    with free as materialized (
        select m.tenant_id, m.id from memory_jobs m
        where (p_id is null or m.id = p_id) and m.not_before <= clock_timestamp()
          and (m.lease_until is null or m.lease_until < clock_timestamp())
        order by m.not_before limit 1 for update skip locked)
    update memory_jobs j
    set owner = p_owner, lease_until = clock_timestamp() + p_lease, attempts = j.attempts + 1,
        not_before = clock_timestamp() + make_interval(secs => least(5 * power(4, least(j.attempts, 10)), 3600))
    from free
    where j.tenant_id = free.tenant_id and j.id = free.id
    returning j.tenant_id, j.id, j.attempts;
end $$;

create or replace function claim_notices(p_most int, p_lease interval)
returns table(tenant_id text, run_id text, key text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    with due as materialized (
        select d.tenant_id, d.run_id, d.key from run_notices d
        where d.state = 'open' and d.next_attempt_at <= clock_timestamp()
        order by d.next_attempt_at limit p_most for update skip locked)
    update run_notices n set next_attempt_at = clock_timestamp() + p_lease, attempts = n.attempts + 1
    from due
    where n.tenant_id = due.tenant_id and n.run_id = due.run_id and n.key = due.key
    returning n.tenant_id, n.run_id, n.key;
end $$;

create or replace function claim_profile(p_owner text, p_ttl interval, p_most int)
returns table(tenant_id text, turn_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
begin
    select j.tenant_id into v_tenant from profile_jobs j
    where j.not_before <= clock_timestamp() and (j.lease_until is null or j.lease_until < clock_timestamp())
      and (j.attempts >= 3 or not exists (
          select from profile_jobs n where n.tenant_id = j.tenant_id and n.not_before > clock_timestamp()
          and n.attempts = 0 and j.not_before > clock_timestamp() - interval '2 minutes'))
    order by j.not_before limit 1;
    if v_tenant is null or not pg_try_advisory_xact_lock(hashtextextended('profile' || chr(31) || v_tenant, 0)) then
        return;
    end if;
    return query
    with due as materialized (
        select d.tenant_id, d.turn_id from profile_jobs d
        where d.tenant_id = v_tenant and (d.lease_until is null or d.lease_until < clock_timestamp())
        order by d.not_before limit p_most for update skip locked)
    update profile_jobs j
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, attempts = j.attempts + 1
    from due where j.tenant_id = due.tenant_id and j.turn_id = due.turn_id
    returning j.tenant_id, j.turn_id;
end $$;

create or replace function find_event_work(p_group text, p_after interval, p_limit int)
returns table(tenant_id text, source text, event_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    with f as materialized (
        select f.tenant_id, f.source, f.event_id from event_work f
        where f.group_name = p_group and f.state = 'waiting' and f.next_attempt_at <= clock_timestamp()
          and f.streamed_at < clock_timestamp() - p_after
          and (f.lease_until is null or f.lease_until < clock_timestamp())
        order by f.next_attempt_at limit p_limit for update skip locked)
    update event_work w set streamed_at = clock_timestamp()
    from f
    where w.tenant_id = f.tenant_id and w.source = f.source and w.event_id = f.event_id and w.group_name = p_group
    returning w.tenant_id, w.source, w.event_id;
end $$;

create or replace function prune_events(p_before timestamptz, p_limit int)
returns table(pruned bigint, left_over bigint)
language sql security definer set search_path = public, pg_temp as $$
    with old as materialized (
        select o.tenant_id, o.source, o.id from events o where o.received_at < p_before
            order by o.received_at limit p_limit for update skip locked),
    gone as (
        delete from events e using old o
        where e.tenant_id = o.tenant_id and e.source = o.source and e.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

create or replace function prune_notifications(p_before timestamptz, p_limit int)
returns table(pruned bigint, left_over bigint)
language sql security definer set search_path = public, pg_temp as $$
    with old as materialized (
        select o.tenant_id, o.id from notifications o
            where o.at < p_before and o.state not in ('held', 'owed', 'failed')
            order by o.at limit p_limit for update skip locked),
    gone as (
        delete from notifications n using old o
        where n.tenant_id = o.tenant_id and n.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

create or replace function prune_tasks(p_kept interval, p_limit int)
returns table(pruned bigint, left_over bigint)
language sql security definer set search_path = public, pg_temp as $$
    with old as materialized (
        select o.tenant_id, o.id from tasks o
            where o.ended_at < clock_timestamp() - p_kept
              and not exists (select 1 from task_runs r where r.tenant_id = o.tenant_id and r.task_id = o.id)
            order by o.ended_at limit p_limit for update skip locked),
    gone as (
        delete from tasks t using old o
        where t.tenant_id = o.tenant_id and t.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;
