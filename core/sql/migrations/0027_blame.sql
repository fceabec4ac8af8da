-- Who killed the worker. A dead process had many turns in flight, and most of them had no part in its death. A turn is
-- blamed when it dies with its worker where it died before: what kills dies at the same step each time, what is killed
-- from outside gets on. Two deaths at one place make a suspect, of which a process runs one at a time, so that the third
-- tells which it was. Attempts count how often a turn was begun, blame sets it aside.

alter table turns
    add column suspect boolean not null default false,
    add column blamed int not null default 0,
    add column died_after int not null default -1,
    add column tried_at timestamptz not null default clock_timestamp();

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

-- How long a suspect keeps others from running beside it. It doubles with each death after the third: a slow turn that
-- always begins before the one that kills would else die with it each time, and neither could be told from the other.
create function suspect_alone(p_attempts int)
returns interval
language sql immutable as $$ select interval '2 seconds' * power(2, greatest(least(p_attempts - 4, 8), 0)) $$;

-- Gives free all that a dead process held, at once and in one verdict: leases end one after another, and what is
-- taken over piece by piece would look as if each piece had been alone.
create function judge_dead(p_process text)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_suspects int;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('judge ' || p_process, 0)) then
        return;
    end if;
    perform 1 from lanes l where l.owner is not null and process_of(l.owner) = p_process
    order by l.tenant_id, l.id for update;
    select count(*) filter (where t.suspect) into v_suspects
    from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
    where l.owner is not null and process_of(l.owner) = p_process and t.state = 'running' and t.owner = l.owner;
    -- Of several suspects either may have done it; beside one suspect, the others are clear. A dozen deaths are too
    -- many, wherever they were.
    update turns t
    set owner = '', attempts = t.attempts + 1, died_after = d.steps, blamed = d.blamed, suspect = d.blamed >= 2
    from (select r.tenant_id, r.id, r.steps,
                 case when r.attempts >= 12 then greatest(r.blamed, 3)
                      when v_suspects > 0 and not r.suspect then case when r.same then r.blamed else 0 end
                      when not r.same then 1
                      when r.suspect and v_suspects > 1 then r.blamed
                      else r.blamed + 1 end as blamed
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

-- Takes the named lane, or the one that waits longest, of somebody for whom fewer than p_most lanes run. A lane whose
-- turn is a suspect is taken by a process that has no other one, or whose others have lived for a while: a slow one
-- may not hold up all others. Nor does one wait for such a place for long, before its fourth death.
create or replace function claim_lane(p_lane text, p_owner text, p_ttl interval, p_most integer)
returns table (tenant_id text, lane_id text, fence bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_me text := process_of(p_owner);
    v_tenant text;
    v_lane text;
    v_place boolean;
begin
    return query select l.tenant_id, l.id, l.fence from lanes l
    where l.owner = p_owner and l.lease_until > clock_timestamp();
    if found then
        return;
    end if;
    perform judge_lapsed(v_me, p_ttl);
    v_place := pg_try_advisory_xact_lock(hashtextextended('suspect ' || v_me, 0));
    v_place := v_place and not exists (
        select 1 from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
        where l.owner is not null and process_of(l.owner) = v_me and t.state = 'running' and t.suspect
          and (t.owner <> l.owner or t.tried_at + suspect_alone(t.attempts) > clock_timestamp()));
    select l.tenant_id, l.id into v_tenant, v_lane from lanes l
    where l.pending and (p_lane is null or l.id = p_lane)
      and l.owner is null
      and (l.not_before is null or l.not_before <= clock_timestamp())
      and (select count(*) from lanes o where o.tenant_id = l.tenant_id and o.lease_until > clock_timestamp()) < p_most
      and (v_place or not exists (select 1 from turns t where t.tenant_id = l.tenant_id and t.lane_id = l.id
                                  and t.state = 'running' and t.suspect
                                  and (t.attempts > 4 or l.not_before > clock_timestamp() - interval '8 seconds')))
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
    -- A waiting turn that may go on comes before what was written since: its person has answered.
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'waiting' and t.ready
    order by t.started_at limit 1;
    if v_turn.id is not null then
        update turns t
        set state = 'running', ready = false, attempts = 1, fence = p_fence, owner = p_owner,
            suspect = false, blamed = 0, died_after = -1, tried_at = clock_timestamp()
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
        'process_of(text)', 'steps_done(text, text)', 'suspect_alone(integer)', 'judge_dead(text)', 'judge_lapsed(text, interval)',
        'claim_lane(text, text, interval, integer)', 'end_leases(text)',
        'begin_turn(text, text, bigint, text, text)'] loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
