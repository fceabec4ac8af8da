-- Follow-ups: finding, proposing, deciding and ending them. Each function that writes may be repeated.

-- Locks a person's follow-ups until the transaction ends.
create function lock_followups(p_tenant text)
returns followup_choices
language plpgsql as $$
declare
    v followup_choices%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into followup_choices as c (tenant_id) values (p_tenant)
    on conflict (tenant_id) do update set noes = c.noes returning c.* into v;
    return v;
end $$;

-- Notes that a person's follow-ups are to be looked at, as soon as what changed is committed.
create function look_at_followups()
returns trigger
language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        -- No row is made: its person may be gone, too.
        update followup_choices c set look_at = 'epoch'
        where c.tenant_id = old.tenant_id and c.look_at is distinct from 'epoch';
    else
        insert into followup_choices as c (tenant_id, look_at) values (new.tenant_id, 'epoch')
        on conflict (tenant_id) do update set look_at = 'epoch' where c.look_at is distinct from 'epoch';
    end if;
    return null;
end $$;

create or replace trigger memories_ahead after insert on memories for each row
when (new.happens_at is not null) execute function look_at_followups();

create or replace trigger memories_ahead_change after update of tenant_id, happens_at, valid_to, held on memories
for each row
when (new.happens_at is not null and (old.tenant_id, old.happens_at, old.valid_to, old.held)
      is distinct from (new.tenant_id, new.happens_at, new.valid_to, new.held)) execute function look_at_followups();

create or replace trigger memories_ahead_end after delete on memories for each row
when (old.happens_at is not null) execute function look_at_followups();

create or replace trigger followups_change after update of tenant_id, state on followups for each row
when ((old.tenant_id, old.state) is distinct from (new.tenant_id, new.state)) execute function look_at_followups();

-- Claims people whose follow-ups are to be looked at: a proposal was answered or is not answered in time, its memory
-- changed, something is ahead, or a digest has gone out; ids only. During a halt nothing is proposed. Each comes again
-- after a pause that grows, unless the look at them succeeds.
create function claim_followups(p_now timestamptz, p_limit int)
returns table (tenant_id text)
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    return query
    with due as materialized (
        select c.tenant_id, coalesce(c.look_at, c.next_attempt_at) as at from followup_choices c
        where not is_halted()
          and (c.look_at <= p_now and c.next_attempt_at is null or c.next_attempt_at <= clock_timestamp())
        order by at, c.tenant_id limit p_limit for update of c skip locked),
    claimed as (
        update followup_choices c
        set attempts = c.attempts + 1, next_attempt_at = clock_timestamp() + pause_after(c.attempts), look_at = null
        from due where c.tenant_id = due.tenant_id
        returning c.tenant_id, due.at)
    select c.tenant_id from claimed c order by c.at, c.tenant_id;
end $$;

-- Notes that a look at a person's follow-ups has succeeded, and when the next is due: when a proposal has had its time, or
-- its digest has gone out and a further one may be made. What changed during the look is looked at once more.
create function end_followup_look(p_tenant text, p_now timestamptz default null)
returns void
language plpgsql as $$
declare
    v_now timestamptz := coalesce(p_now, clock_timestamp());
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update followup_choices c
    set attempts = 0, next_attempt_at = null,
        look_at = least(c.look_at, (
            select min(least(case when f.digest_at > v_now then f.digest_at end, f.ask_at))
            from followups f where f.tenant_id = p_tenant and f.state = 'proposed'))
    where c.tenant_id = p_tenant;
end $$;

-- Returns the next thing ahead of a person's that no follow-up is about, with what its proposal depends on; no row while
-- a proposal waits for its digest.
create function next_followup(p_tenant text, p_now timestamptz)
returns table (memory_id text, words text, happens_at timestamptz, language text, timezone text, role text, tier text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    select m.id, m.text, m.happens_at, t.language, t.timezone, t.role, t.tier
    from memories m join tenants t on t.tenant_id = m.tenant_id
    where m.tenant_id = p_tenant and m.happens_at > p_now and m.valid_to is null and not m.held
      and not exists (select from followups f where f.tenant_id = p_tenant
                      and (f.memory_id = m.id or f.state = 'proposed' and f.digest_at > p_now))
    order by m.happens_at, m.number limit 1;
end $$;

-- Proposes a follow-up in a digest (p_proposal: {ask_at, digest_at, day, text, actions}, where the memory's id stands for
-- the number), or passes it over (null). So it does if the person wants none, or none for now, if the day has its proposal,
-- and if the same moment was proposed. Returns whether it is proposed.
create function propose_followup(p_tenant text, p_memory text, p_proposal jsonb, p_now timestamptz)
returns boolean
language plpgsql as $$
declare
    v_choice followup_choices%rowtype;
    v_memory memories%rowtype;
    v_number bigint := 0;
    v_proposed boolean;
begin
    v_choice := lock_followups(p_tenant);
    select m.* into v_memory from memories m
    where m.tenant_id = p_tenant and m.id = p_memory and m.valid_to is null and m.happens_at is not null;
    if not found or exists (select from followups f where f.tenant_id = p_tenant and f.memory_id = p_memory) then
        return exists (select from followups f
                       where f.tenant_id = p_tenant and f.memory_id = p_memory and f.state = 'proposed');
    end if;
    v_proposed := p_proposal is not null and not v_choice.is_off
        and coalesce(v_choice.paused_until <= p_now, true)
        and not exists (select from followups f where f.tenant_id = p_tenant and f.state <> 'passed'
                        and (f.day = (p_proposal ->> 'day')::date or f.happens_at = v_memory.happens_at));
    if v_proposed then
        select coalesce(max(f.number), 0) + 1 into v_number from followups f where f.tenant_id = p_tenant;
    end if;
    insert into followups (tenant_id, memory_id, number, turn_id, state, happens_at, ask_at, digest_at, day, changed_at,
                           made_at)
    values (p_tenant, p_memory, v_number, v_memory.turn_id, case when v_proposed then 'proposed' else 'passed' end,
            v_memory.happens_at, (p_proposal ->> 'ask_at')::timestamptz, (p_proposal ->> 'digest_at')::timestamptz,
            (p_proposal ->> 'day')::date, p_now, p_now);
    if v_proposed then
        insert into notifications (tenant_id, id, category, urgency, text, actions, dedupe_key, state, at, not_before)
        values (p_tenant, 'ntf_followup_' || p_memory, 'followup', 'low',
                replace(p_proposal ->> 'text', p_memory, v_number::text),
                replace(coalesce(p_proposal ->> 'actions', '[]'), p_memory, v_number::text)::jsonb,
                'followup:' || p_memory, 'held', p_now, (p_proposal ->> 'digest_at')::timestamptz);
    end if;
    return v_proposed;
end $$;

-- Ends a follow-up, whose task is deleted already, and keeps its proposal out of the digest if that is still to come.
create function end_followup(p_tenant text, p_memory text, p_state text, p_turn text, p_now timestamptz)
returns void
language plpgsql as $$
declare
    v_task text;
begin
    update followups f set state = p_state, decided_in = coalesce(p_turn, f.decided_in), changed_at = p_now
    where f.tenant_id = p_tenant and f.memory_id = p_memory returning f.task_id into v_task;
    update notifications n set state = 'muted', reason = 'the follow-up is over'
    where n.tenant_id = p_tenant and n.id = 'ntf_followup_' || p_memory and n.state = 'held';
    -- Forgetting redacts no task that is still to run.
    update tasks k set title = '[forgotten]'
    where k.tenant_id = p_tenant and k.id = v_task
      and not exists (select from memories m where m.tenant_id = p_tenant and m.id = p_memory);
end $$;

-- Counts noes in a row; after so many (p_noes) no follow-up is proposed for a while (p_pause). Returns whether that
-- begins with these.
create function count_followup_noes(p_tenant text, p_more bigint, p_noes int, p_pause interval, p_now timestamptz)
returns boolean
language plpgsql as $$
declare
    v_paused boolean;
begin
    update followup_choices c
    set noes = case when c.noes + p_more >= p_noes then 0 else c.noes + p_more end,
        paused_until = case when c.noes + p_more >= p_noes then p_now + p_pause else c.paused_until end
    where c.tenant_id = p_tenant returning c.noes = 0 into v_paused;
    return v_paused;
end $$;

-- Ends what is over: a follow-up whose memory was forgotten or replaced, and a proposal that nobody answered in time,
-- which counts as a no if it had been sent.
create function settle_followups(p_tenant text, p_noes int, p_pause interval, p_now timestamptz)
returns void
language plpgsql as $$
declare
    v_memory text;
    v_sent bigint;
begin
    perform lock_followups(p_tenant);
    for v_memory in
        select f.memory_id from followups f
        where f.tenant_id = p_tenant and f.state in ('proposed', 'kept') and not exists (
            select from memories m where m.tenant_id = p_tenant and m.id = f.memory_id and m.valid_to is null)
        order by f.memory_id
    loop
        perform end_followup(p_tenant, v_memory, 'over', null, p_now);
    end loop;
    with silent as (
        update followups f set state = 'unanswered', changed_at = p_now
        where f.tenant_id = p_tenant and f.state = 'proposed' and f.ask_at <= p_now returning f.memory_id)
    select count(*) into v_sent from silent s join notifications n
        on n.tenant_id = p_tenant and n.id = 'ntf_followup_' || s.memory_id and n.state in ('sent', 'digested');
    if v_sent > 0 then
        perform count_followup_noes(p_tenant, v_sent, p_noes, p_pause, p_now);
    end if;
end $$;

-- Keeps a follow-up as a task (p_task), or declines it (null), in a turn. Returns `kept`, `declined`, `paused` for the
-- last of too many noes, `ended` where it had been kept, or `over`.
create function decide_followup(p_tenant text, p_memory text, p_task text, p_turn text, p_noes int, p_pause interval,
                                p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_choice followup_choices%rowtype;
    v followups%rowtype;
begin
    v_choice := lock_followups(p_tenant);
    select f.* into v from followups f where f.tenant_id = p_tenant and f.memory_id = p_memory;
    -- The same turn, after a crash.
    if v.decided_in = p_turn then
        return case when v.state <> 'declined' then case v.state when 'kept' then 'kept' else 'ended' end
                    when v_choice.paused_until > p_now then 'paused' else 'declined' end;
    end if;
    if v.state is null or v.ask_at <= p_now
        or v.state not in ('proposed', 'kept') and (p_task is null or v.state <> 'declined')
        or not exists (select from memories m where m.tenant_id = p_tenant and m.id = p_memory and m.valid_to is null) then
        return 'over';
    end if;
    if p_task is not null then
        update followups f set state = 'kept', task_id = p_task, decided_in = p_turn, changed_at = p_now
        where f.tenant_id = p_tenant and f.memory_id = p_memory;
        update followup_choices c set noes = 0, paused_until = null where c.tenant_id = p_tenant;
        return 'kept';
    end if;
    perform end_followup(p_tenant, p_memory, case v.state when 'kept' then 'over' else 'declined' end, p_turn, p_now);
    if v.state = 'kept' then
        return 'ended';
    end if;
    return case when count_followup_noes(p_tenant, 1, p_noes, p_pause, p_now) then 'paused' else 'declined' end;
end $$;

-- Takes back what was kept; false if the person was asked already.
create function drop_followup(p_tenant text, p_memory text, p_now timestamptz)
returns boolean
language plpgsql as $$
declare
    v_state text;
begin
    perform lock_followups(p_tenant);
    select f.state into v_state from followups f where f.tenant_id = p_tenant and f.memory_id = p_memory;
    if v_state = 'kept' then
        perform end_followup(p_tenant, p_memory, 'over', null, p_now);
    end if;
    return coalesce(v_state in ('kept', 'over'), false);
end $$;

-- Turns follow-ups on or off; off ends all that are proposed or kept.
create function switch_followups(p_tenant text, p_on boolean, p_now timestamptz)
returns void
language plpgsql as $$
declare
    v_memory text;
begin
    perform lock_followups(p_tenant);
    update followup_choices c set is_off = not p_on, noes = 0, paused_until = null where c.tenant_id = p_tenant;
    if p_on then
        return;
    end if;
    for v_memory in select f.memory_id from followups f
                    where f.tenant_id = p_tenant and f.state in ('proposed', 'kept') order by f.memory_id loop
        perform end_followup(p_tenant, v_memory, 'over', null, p_now);
    end loop;
end $$;

-- Notes that a task asks a person, and returns the words that it is about; no row if the follow-up ended, or has another
-- task: one that a crash left behind asks nobody.
create function ask_followup(p_tenant text, p_memory text, p_task text, p_now timestamptz)
returns table (words text, said_at timestamptz)
language plpgsql as $$
begin
    perform lock_followups(p_tenant);
    update followups f set state = 'asked', changed_at = p_now
    where f.tenant_id = p_tenant and f.memory_id = p_memory and f.task_id = p_task and f.state = 'kept';
    return query select m.text, m.said_at from followups f
    join memories m on m.tenant_id = f.tenant_id and m.id = f.memory_id and m.valid_to is null
    where f.tenant_id = p_tenant and f.memory_id = p_memory and f.task_id = p_task and f.state = 'asked';
end $$;

-- Lists the last follow-ups that were proposed, the last first, for the operator; ids only.
create function list_followups(p_limit int)
returns table (tenant_id text, memory_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select f.tenant_id, f.memory_id from followups f where f.state <> 'passed' order by f.made_at desc limit p_limit
$$;
