-- Where something else than a turn blocked a worker, and that is known, no turn is charged. A job of memory that was begun
-- and never ended comes back as late as one that failed.

-- p_hung is null unless the process hung; else the lane, or whatever else blocked it, or '' where that is not known.
create or replace function judge_dead(p_process text, p_hung text default null)
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

-- What a worker held that is known to be dead is free for the next claim. p_hung as in judge_dead.
create or replace function end_leases(p_worker text, p_hung text)
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

-- Takes the named job or the one that waits longest; one whose worker died is free when its lease has ended, and later
-- each time: what kills or blocks workers may not do so all the time.
create or replace function claim_memory_job(p_id text, p_owner text, p_lease interval)
returns table (tenant_id text, id text, attempts int)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    update memory_jobs j
    set owner = p_owner, lease_until = clock_timestamp() + p_lease, attempts = j.attempts + 1,
        not_before = clock_timestamp() + make_interval(secs => least(5 * power(4, least(j.attempts, 10)), 3600))
    from (select m.tenant_id, m.id from memory_jobs m
          where (p_id is null or m.id = p_id) and m.not_before <= clock_timestamp()
            and (m.lease_until is null or m.lease_until < clock_timestamp())
          order by m.not_before limit 1 for update skip locked) free
    where j.tenant_id = free.tenant_id and j.id = free.id
    returning j.tenant_id, j.id, j.attempts;
end $$;
