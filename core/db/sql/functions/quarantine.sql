-- Quarantine. A process that dies had many turns in flight, and most of them had no part in its death. All of them
-- continue elsewhere. What is killed from outside gets on between two crashes; a turn that crashes twice at one place,
-- the same step, is quarantined: it runs alone, in a private process where there is one. Only crashes alone count
-- against it, and three at one place make it poison. A turn that crashes at a different place each time is quarantined
-- after six crashes, and poison after twelve.

-- What a worker held that is known to be dead is free for the next claim. p_hung as in reap_process.
create function end_leases(p_worker text, p_hung text)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    update outbound set hangs = hangs + 1 where id = p_hung;
    perform reap_process(d.process, p_hung) from (
        select distinct l.process from lanes l where l.owner is not null and starts_with(l.owner, p_worker || '/')) d;
    -- A worker that hangs cannot renew its leases. Another process then freed them as those of one that died, and any process
    -- would claim again at once the turn that hung this one. `not_before` says since when a turn waits for a private process.
    with hung as (
        select l.tenant_id, l.id from lanes l
        join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running'
        where p_hung in ('', l.id) and l.owner is null and starts_with(l.process || '/', p_worker || '/')
          and t.crashes > 0 and not t.quarantined
        for no key update of l),
    waiting as (
        update lanes l set not_before = greatest(l.not_before, clock_timestamp())
        from hung h where l.tenant_id = h.tenant_id and l.id = h.id
        returning l.tenant_id, l.id)
    update turns t set quarantined = true
    from waiting w where t.tenant_id = w.tenant_id and t.lane_id = w.id and t.state = 'running';
    update outbound set lease_until = clock_timestamp()
    where lease_until > clock_timestamp() and starts_with(owner, p_worker || '/');
    update channel_state set sweep_until = clock_timestamp()
    where sweep_until > clock_timestamp() and (sweep_owner = p_worker or starts_with(sweep_owner, p_worker || '/'));
end $$;

-- Whether a quarantined turn waits that could be taken, and has waited for so long.
create function quarantine_waits(p_limit int, p_from interval, p_to interval)
returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
    select exists (
        select 1 from turns t join lanes l on l.tenant_id = t.tenant_id and l.id = t.lane_id
        where t.state = 'running' and t.quarantined and l.owner is null and l.pending
          and l.not_before between clock_timestamp() - p_to and clock_timestamp() - p_from
          and (select count(*) from lanes o
               where o.tenant_id = l.tenant_id and o.lease_until > clock_timestamp()) < p_limit)
$$;

-- Returns what decides whether a process may claim, while a turn is quarantined: whether it began one itself just now or is
-- about to, whether nothing runs in it, and whether one has waited for so long that others are to make room for it.
create function quarantine_facts(p_process text, p_limit int)
returns jsonb
language sql stable as $$
    select jsonb_build_object(
        'begun', exists (
            select 1 from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
            where l.owner is not null and l.process = p_process and t.state = 'running' and t.quarantined
              and (t.fence <> l.fence or t.tried_at + interval '10 seconds' > clock_timestamp())),
        'idle', not exists (select 1 from lanes l where l.owner is not null and l.process = p_process),
        'held_up', quarantine_waits(p_limit, interval '2 seconds', interval '10 seconds'))
$$;

-- Frees all that a dead process held, at once: leases end one after another, and of what is taken over piece by piece
-- each piece would look as if it had been alone. p_hung is null unless the process hung, else what blocked it, or ''
-- where that is not known: then all that ran there are quarantined, as the same turn would hang the next worker too. A
-- lane that is known to have blocked it crashed alone, and its turn is quarantined from the first time on. Where
-- something other than a turn blocked the process, no turn crashed.
create function reap_process(p_process text, p_hung text default null)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_now timestamptz := clock_timestamp();
begin
    if not pg_try_advisory_xact_lock(hashtextextended('reap ' || p_process, 0)) then
        return;
    end if;
    perform 1 from lanes l where l.owner is not null and l.process = p_process order by l.tenant_id, l.id for no key update;
    update turns t set attempts = t.attempts + 1
    from lanes l
    where l.owner is not null and l.process = p_process
      and t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running' and t.fence = l.fence;
    -- What its person wrote in between is taken in before the same step again, and gets a turn no further.
    update turns t
    set crashes = t.crashes + 1, crashed_after = c.steps,
        solo_crashes = case when c.again then t.solo_crashes else 0 end + c.solo::int,
        quarantined = t.quarantined or c.again or t.crashes >= 5 or p_hung is not null
    from (select t.tenant_id, t.id, s.steps, s.steps = t.crashed_after as again, count(*) over () = 1 as solo
          from lanes l
          join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running' and t.fence = l.fence
          cross join lateral (select count(*)::int as steps from steps s
                              where s.tenant_id = t.tenant_id and s.turn_id = t.id and s.kind <> 'steer') s
          where l.owner is not null and l.process = p_process and coalesce(p_hung, '') in ('', l.id)) c
    where t.tenant_id = c.tenant_id and t.id = c.id;
    -- `not_before` says since when a turn waits. Quarantined turns are tried in rounds: one that crashes again comes after
    -- those that have not been tried. Those that crash together keep their order.
    update lanes l
    set owner = null, lease_until = null, not_before = clock_timestamp(),
        pending_since = case when exists (
            select 1 from turns t where t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running'
            and t.quarantined) then v_now + r.place * interval '1 microsecond' else l.pending_since end
    from (select l.tenant_id, l.id, row_number() over (order by l.pending_since, l.id) as place
          from lanes l where l.owner is not null and l.process = p_process) r
    where l.tenant_id = r.tenant_id and l.id = r.id and l.owner is not null and l.process = p_process;
end $$;

-- Looks at leases that ran out. A process that renews others is alive: of its leases only those are given free that
-- it forgot for as long again, and no crash is counted. The freshest lease that a dead one leaves ends within a third
-- of its length after the first.
create function reap_lapsed(p_me text, p_ttl interval)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_process text;
begin
    for v_process in select distinct l.process from lanes l
                     where l.owner is not null and l.lease_until < clock_timestamp() loop
        if v_process <> p_me and not exists (
            select 1 from lanes l where l.owner is not null and l.process = v_process
            and l.lease_until > clock_timestamp() + p_ttl * 0.4) then
            perform reap_process(v_process);
            continue;
        end if;
        update turns t set attempts = t.attempts + 1
        from (select l.tenant_id, l.id, l.fence from lanes l
              where l.owner is not null and l.process = v_process
                and l.lease_until + p_ttl < clock_timestamp() for no key update skip locked) l
        where t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running' and t.fence = l.fence;
        update lanes l set owner = null, lease_until = null, not_before = clock_timestamp()
        where l.owner is not null and l.process = v_process and l.lease_until + p_ttl < clock_timestamp();
    end loop;
end $$;
