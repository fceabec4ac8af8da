-- Who killed the worker. A dead process had many turns in flight, and most of them had no part in its death. What dies
-- twice at one place, the same step, is a suspect: what is killed from outside gets on. Suspects run in a process of
-- their own, one at a time, so that its death tells. Where there is no such process, a suspect is begun by one that
-- began nothing else just before and begins nothing else just after. A turn is blamed for the deaths, at one place, that
-- nothing else can have caused. Attempts count how often a turn was begun; blame sets it aside, and so do a dozen deaths
-- that it may have caused, wherever that was.

alter table turns
    add column suspect boolean not null default false,
    add column blamed int not null default 0,
    add column died_after int not null default -1,
    add column died_there int not null default 0,
    add column deaths int not null default 0,
    add column tried_at timestamptz not null default clock_timestamp();

create index turns_suspect on turns (tenant_id, lane_id) where state = 'running' and suspect;

-- Owners of leases are the process and what tells its claims apart.
create function process_of(p_owner text)
returns text
language sql immutable as $$ select regexp_replace(p_owner, '/[^/]*$', '') $$;

-- How far a turn got: what it wrote down. What its person wrote meanwhile is taken in before the same step again, and
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
create function suspect_waits(p_most int, p_from interval, p_to interval)
returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
    select exists (
        select 1 from turns t join lanes l on l.tenant_id = t.tenant_id and l.id = t.lane_id
        where t.state = 'running' and t.suspect and l.owner is null and l.pending
          and l.not_before between clock_timestamp() - p_to and clock_timestamp() - p_from
          and (select count(*) from lanes o
               where o.tenant_id = l.tenant_id and o.lease_until > clock_timestamp()) < p_most)
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

-- Gives free all that a dead process held, at once and in one verdict: leases end one after another, and what is
-- taken over piece by piece would look as if each piece had been alone.
create function judge_dead(p_process text)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_cause text;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('judge ' || p_process, 0)) then
        return;
    end if;
    perform 1 from lanes l where l.owner is not null and process_of(l.owner) = p_process
    order by l.tenant_id, l.id for update;
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
    -- Beside it the others are clear. Where it cannot be told, all that died there before are suspects.
    update turns t
    set owner = '', attempts = t.attempts + 1, died_after = d.steps, died_there = d.there, deaths = d.deaths,
        blamed = case when d.deaths >= 12 then greatest(d.blamed, 3) else d.blamed end,
        suspect = d.deaths >= 12 or d.there >= 2
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

drop function claim_lane(text, text, interval, integer);

-- Takes the named lane, or the one that waits longest, of somebody for whom fewer than p_most lanes run. A lane whose
-- turn is a suspect is taken by a process that takes nothing else (p_suspects 'only'). Where others leave them to such
-- ones ('apart'), they do so for ten seconds. Where there is none ('here'), a quiet process takes it, and one that
-- waits for that keeps all others from being taken for a while; nor does it wait for long, unless it may have caused
-- too many deaths already.
create function claim_lane(p_lane text, p_owner text, p_ttl interval, p_most integer, p_suspects text)
returns table (tenant_id text, lane_id text, fence bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_me text := process_of(p_owner);
    v_tenant text;
    v_lane text;
    v_quiet boolean := false;
    v_waits boolean := false;
begin
    return query select l.tenant_id, l.id, l.fence from lanes l
    where l.owner = p_owner and l.lease_until > clock_timestamp();
    if found then
        return;
    end if;
    perform judge_lapsed(v_me, p_ttl);
    if exists (select 1 from turns t where t.state = 'running' and t.suspect) then
        -- Claims of one process wait for each other here: what two look at at once would look quiet to both.
        perform pg_advisory_xact_lock(hashtextextended('suspects of ' || v_me, 0));
        if suspect_begun(v_me) then
            return;
        end if;
        v_quiet := p_suspects = 'only' or process_quiet(v_me);
        v_waits := p_suspects = 'here' and suspect_waits(p_most, interval '2 seconds', interval '12 seconds');
    end if;
    select l.tenant_id, l.id into v_tenant, v_lane from lanes l
    where l.pending and (p_lane is null or l.id = p_lane)
      and l.owner is null
      and (l.not_before is null or l.not_before <= clock_timestamp())
      and (select count(*) from lanes o where o.tenant_id = l.tenant_id and o.lease_until > clock_timestamp()) < p_most
      and coalesce(
          (select case p_suspects
                      when 'apart' then v_quiet and l.not_before <= clock_timestamp() - interval '10 seconds'
                      else v_quiet or t.deaths <= 3 and l.not_before <= clock_timestamp() - interval '8 seconds' end
           from turns t where t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running' and t.suspect),
          p_suspects <> 'only' and not v_waits)
    order by l.pending_since limit 1 for update skip locked;
    if v_lane is null then
        return;
    end if;
    return query update lanes l
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, fence = l.fence + 1
    where l.tenant_id = v_tenant and l.id = v_lane
    returning l.tenant_id, l.id, l.fence;
end $$;

-- What a worker held that is known to be dead is free for the next claim.
create or replace function end_leases(p_worker text)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    perform judge_dead(d.process) from (
        select distinct process_of(l.owner) as process from lanes l
        where l.owner is not null and starts_with(l.owner, p_worker || '/')) d;
    update outbound set lease_until = clock_timestamp()
    where lease_until > clock_timestamp() and starts_with(owner, p_worker || '/');
    update channel_state set sweep_until = clock_timestamp()
    where sweep_until > clock_timestamp() and (sweep_owner = p_worker or starts_with(sweep_owner, p_worker || '/'));
end $$;

drop function begin_turn(text, text, bigint, text, text);

-- The turn to run now: the one a dead worker left, else a waiting one that may go on, else a new one over all waiting
-- inbound, else none (then the lane is given back). A clean hand-over by leave_lane burns no attempt.
create function begin_turn(p_tenant text, p_lane text, p_fence bigint, p_owner text, p_turn text)
returns table (turn_id text, attempts int, resumed boolean, blamed int, suspect boolean)
language plpgsql as $$
declare
    v_turn turns%rowtype;
    v_conversation text;
    v_command bigint;
    v_first bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.conversation_id into v_conversation from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    if lane_let_go(p_tenant, p_lane, p_fence) then
        return;
    end if;
    perform hold_lane(p_tenant, p_lane, p_fence);
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'running';
    if v_turn.id is not null then
        if v_turn.fence <> p_fence then
            update turns t set fence = p_fence, owner = p_owner, tried_at = clock_timestamp()
            where t.tenant_id = p_tenant and t.id = v_turn.id returning t.* into v_turn;
        end if;
        return query select v_turn.id, v_turn.attempts, v_turn.id <> p_turn, v_turn.blamed, v_turn.suspect;
        return;
    end if;
    -- Nothing else begins beside a suspect that has just begun. Whoever is free next goes on here.
    if suspect_begun(process_of(p_owner)) then
        update lanes l set owner = null, lease_until = null
        where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence;
        return;
    end if;
    -- A waiting turn that may go on comes before what was written since: its person has answered.
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'waiting' and t.ready
    order by t.started_at limit 1;
    if v_turn.id is not null then
        update turns t
        set state = 'running', ready = false, attempts = 1, fence = p_fence, owner = p_owner,
            suspect = false, blamed = 0, died_after = -1, died_there = 0, deaths = 0, tried_at = clock_timestamp()
        where t.tenant_id = p_tenant and t.id = v_turn.id;
        return query select v_turn.id, 1, true, 0, false;
        return;
    end if;
    if not exists (select 1 from inbound i where i.tenant_id = p_tenant
                   and i.conversation_id = v_conversation and i.state = 'waiting') then
        update lanes l set pending = false, pending_since = null, owner = null, lease_until = null
        where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence;
        return;
    end if;
    insert into turns (tenant_id, id, lane_id, conversation_id, fence, owner)
    values (p_tenant, p_turn, p_lane, v_conversation, p_fence, p_owner);
    -- Messages are taken together up to the next command; a command is a turn of its own.
    select min(i.seq) into v_command from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting'
      and i.command is not null;
    select min(i.seq) into v_first from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting';
    update inbound i set state = 'taken', turn_id = p_turn
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting'
      and case when v_command is null then true when v_command = v_first then i.seq = v_first
               else i.seq < v_command end;
    return query select p_turn, 1, false, 0, false;
end $$;

do $$
declare
    f text;
begin
    foreach f in array array[
        'process_of(text)', 'steps_done(text, text)', 'suspect_quiet()', 'suspect_alone(integer)',
        'suspect_begun(text)', 'suspect_waits(integer, interval, interval)', 'process_quiet(text)', 'judge_dead(text)',
        'judge_lapsed(text, interval)', 'claim_lane(text, text, interval, integer, text)', 'end_leases(text)',
        'begin_turn(text, text, bigint, text, text)'] loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
