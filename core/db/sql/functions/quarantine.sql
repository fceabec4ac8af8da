-- Who killed the worker. A dead process had many turns in flight, and most of them had no part in its death. What dies
-- twice at one place, the same step, is a suspect: what is killed from outside gets on. Suspects run in a process of
-- their own, one at a time, so that its death tells. Where there is no such process, a suspect is begun by one that
-- began nothing else just before and begins nothing else just after. A turn is blamed for the deaths, at one place, that
-- nothing else can have caused. Attempts count how often a turn was begun; blame sets it aside, and so do a dozen deaths
-- that it may have caused, wherever that was.

-- What a worker held that is known to be dead is free for the next claim. p_hung as in judge_dead.
create function end_leases(p_worker text, p_hung text)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    update outbound set hangs = hangs + 1 where id = p_hung;
    perform judge_dead(d.process, p_hung) from (
        select distinct process_of(l.owner) as process from lanes l
        where l.owner is not null and starts_with(l.owner, p_worker || '/')) d;
    update outbound set lease_until = clock_timestamp()
    where lease_until > clock_timestamp() and starts_with(owner, p_worker || '/');
    update channel_state set sweep_until = clock_timestamp()
    where sweep_until > clock_timestamp() and (sweep_owner = p_worker or starts_with(sweep_owner, p_worker || '/'));
end $$;

-- Owners of leases are the process and what tells its claims apart.
create function process_of(p_owner text)
returns text
language sql immutable as $$ select regexp_replace(p_owner, '/[^/]*$', '') $$;

-- How far a turn got: what it wrote down. What its person wrote in between is taken in before the same step again, and
-- is no step ahead.
create function steps_done(p_tenant text, p_turn text)
returns int
language sql stable as $$
    select count(*)::int from steps s where s.tenant_id = p_tenant and s.turn_id = p_turn and s.kind <> 'steer'
$$;

-- How long nothing may have begun in a process before a suspect begins there. What has lived longer did not kill it.
create function suspect_quiet()
returns interval
language sql immutable as $$ select interval '500 milliseconds' $$;

-- How long nothing begins in a process after a suspect began there. It doubles with the deaths that it may have caused:
-- what takes long to kill would else never be the last that began.
create function suspect_alone(p_deaths int)
returns interval
language sql immutable as $$ select interval '2 seconds' * power(2, greatest(least(p_deaths - 3, 2), 0)) $$;

-- Whether a suspect has just begun in the process, or is about to.
create function suspect_begun(p_process text)
returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
    select exists (
        select 1 from turns t join lanes l on l.tenant_id = t.tenant_id and l.id = t.lane_id
        where t.state = 'running' and t.suspect and l.owner is not null and process_of(l.owner) = p_process
          and (t.owner <> l.owner or t.tried_at + suspect_alone(t.deaths) > clock_timestamp()))
$$;

-- Whether a suspect waits that could be taken, and has waited for so long.
create function suspect_waits(p_limit int, p_from interval, p_to interval)
returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
    select exists (
        select 1 from turns t join lanes l on l.tenant_id = t.tenant_id and l.id = t.lane_id
        where t.state = 'running' and t.suspect and l.owner is null and l.pending
          and l.not_before between clock_timestamp() - p_to and clock_timestamp() - p_from
          and (select count(*) from lanes o
               where o.tenant_id = l.tenant_id and o.lease_until > clock_timestamp()) < p_limit)
$$;

-- Whether nothing began in the process lately, or is about to.
create function process_quiet(p_process text)
returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
    select not exists (
        select 1 from lanes l
        where l.owner is not null and process_of(l.owner) = p_process
          and not exists (select 1 from turns t
                          where t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running'
                            and t.owner = l.owner and t.tried_at + suspect_quiet() <= clock_timestamp()))
$$;

-- Frees all that a dead process held, at once and in one verdict: leases end one after another, and what is taken over
-- piece by piece would look as if each piece had been alone. p_hung is null unless the process hung, else the lane that
-- blocked it, or '' where that is not known: then all that ran there are suspects, as the same turn would hang the next
-- worker too. The turn that is known to have blocked it is charged alone, and is a suspect from the first time on.
-- Where something other than a turn blocked the process, and that is known, no turn is charged.
create function judge_dead(p_process text, p_hung text default null)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_cause text;
    v_hung text;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('judge ' || p_process, 0)) then
        return;
    end if;
    perform 1 from lanes l where l.owner is not null and process_of(l.owner) = p_process
    order by l.tenant_id, l.id for update;
    select t.id into v_hung
    from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
    where l.owner is not null and process_of(l.owner) = p_process and t.state = 'running' and t.owner = l.owner
      and l.id = p_hung;
    -- The cause is told where it was alone, or where the last that began is a suspect, and all others had lived for a
    -- while by then; other suspects for as long as any may be alone.
    select case when i.before is null
                     or i.suspect and i.tried_at - suspect_quiet() >= i.before
                        and coalesce(i.tried_at - suspect_alone(12) >= i.suspect_before, true) then i.id end
    into v_cause
    from (select t.id, t.suspect, t.tried_at, lead(t.tried_at) over (order by t.tried_at desc) as before,
                 max(t.tried_at) filter (where t.suspect) over (
                     order by t.tried_at desc rows between 1 following and unbounded following) as suspect_before
          from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
          where l.owner is not null and process_of(l.owner) = p_process and t.state = 'running' and t.owner = l.owner) i
    order by i.tried_at desc limit 1;
    if p_hung <> '' then
        v_cause := coalesce(v_hung, '');  -- nobody here, where something else blocked it
    end if;
    -- Beside it the others are clear. Where it cannot be told, all that died there before are suspects.
    update turns t
    set owner = '', attempts = t.attempts + 1, died_after = d.steps, died_there = d.there, deaths = d.deaths,
        blamed = case when d.deaths >= 12 then greatest(d.blamed, 3) else d.blamed end,
        suspect = d.deaths >= 12 or d.there >= 2 or coalesce(p_hung = '' or d.id = v_hung, false)
    from (select r.tenant_id, r.id, r.steps, r.deaths + case when v_cause <> r.id then 0 else 1 end as deaths,
                 case when v_cause <> r.id then case when r.same then r.died_there else 0 end
                      when r.same then r.died_there + 1
                      when v_cause = r.id and r.suspect then r.died_there
                      else 1 end as there,
                 case when v_cause = r.id then case when r.same then r.blamed + 1 else 1 end
                      when r.same then r.blamed
                      else 0 end as blamed
          from (select o.*, o.died_after = o.steps as same
                from (select t.*, steps_done(t.tenant_id, t.id) as steps
                      from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
                      where l.owner is not null and process_of(l.owner) = p_process
                        and t.state = 'running' and t.owner = l.owner) o) r) d
    where t.tenant_id = d.tenant_id and t.id = d.id;
    -- Since when it waits for somebody who goes on with it.
    update lanes l set owner = null, lease_until = null, not_before = clock_timestamp()
    where l.owner is not null and process_of(l.owner) = p_process;
end $$;

-- Looks at leases that ran out. A process that renews others is alive: of its leases only those are given free that
-- it forgot for as long again, and nobody is suspected. The freshest lease that a dead one leaves ends within a third
-- of its length after the first.
create function judge_lapsed(p_me text, p_ttl interval)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_process text;
begin
    for v_process in select distinct process_of(l.owner) from lanes l
                     where l.owner is not null and l.lease_until < clock_timestamp() loop
        if v_process <> p_me and not exists (
            select 1 from lanes l where l.owner is not null and process_of(l.owner) = v_process
            and l.lease_until > clock_timestamp() + p_ttl * 0.4) then
            perform judge_dead(v_process);
            continue;
        end if;
        update turns t set owner = '', attempts = t.attempts + 1
        from (select l.tenant_id, l.id, l.owner from lanes l
              where l.owner is not null and process_of(l.owner) = v_process
                and l.lease_until + p_ttl < clock_timestamp() for update skip locked) l
        where t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running' and t.owner = l.owner;
        update lanes l set owner = null, lease_until = null, not_before = clock_timestamp()
        where l.owner is not null and process_of(l.owner) = v_process and l.lease_until + p_ttl < clock_timestamp();
    end loop;
end $$;
