-- Previews, and what a turn or a task may spend.

-- An answer that grows on the screen before it is sent. Its outbox row exists from the first word on, held,
-- so that whoever ends the turn knows which message at the provider is to hold the answer.

-- `stream_at`: when it began; `stream`: the provider's id of the growing message, empty until that is known.
alter table outbound
    add column stream text not null default '',
    add column stream_at timestamptz;
create unique index outbound_growing on outbound (tenant_id, turn_id) where state = 'held' and stream_at is not null;

-- Takes the row for a turn's growing answer, where nothing is left to send before it; true when it is there.
-- One a turn: a worker that takes the turn over finds the row of the first one, and begins no second message.
create function begin_stream(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_outbound text)
returns boolean
language plpgsql as $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select t.conversation_id into v_conversation from turns t
    where t.tenant_id = p_tenant and t.id = p_turn and t.fence = p_fence and t.state = 'running';
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    perform hold_lane(p_tenant, p_lane, p_fence);
    if v_conversation is not null and not exists (
            select 1 from outbound e where e.tenant_id = p_tenant and e.conversation_id = v_conversation
            and (e.state in ('ready', 'sending', 'checking')
                 or e.turn_id = p_turn and e.state = 'held' and e.stream_at is not null)) then
        insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, state, stream_at)
        values (p_tenant, p_outbound, v_conversation, p_turn, 'reply', '', 'held', clock_timestamp())
        on conflict on constraint outbound_pkey do nothing;
    end if;
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held');
end $$;

-- Keeps the provider's id of the growing message, before a word is added to it; false when the turn has ended.
create function keep_stream(p_tenant text, p_lane text, p_fence bigint, p_outbound text, p_stream text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform hold_lane(p_tenant, p_lane, p_fence);
    update outbound o set stream = p_stream where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held';
    return found;
end $$;

-- Gives the row up: the provider refused to begin a message.
create function forget_stream(p_tenant text, p_outbound text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held' and o.stream = '';
end $$;

-- Whether the growing message is no longer the place for its answer: something else of ours came after it began, or
-- the person's own words, which the answer takes up.
create function stream_overtaken(p_tenant text, p_outbound text)
returns boolean
language sql stable as $$
    select exists (
        select 1 from outbound o
        where o.tenant_id = p_tenant and o.id = p_outbound and (
            exists (select 1 from outbound e
                    where e.tenant_id = o.tenant_id and e.conversation_id = o.conversation_id and e.id <> o.id
                      and (e.sent_at > o.stream_at or o.seq is null and e.state in ('ready', 'sending', 'checking')))
            or exists (select 1 from inbound i
                       where i.tenant_id = o.tenant_id and i.turn_id = o.turn_id and i.received_at > o.stream_at)))
$$;

-- Whether words may still be added: the turn has not ended, and the row is the head.
create function stream_leads(p_tenant text, p_outbound text)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held')
        and not stream_overtaken(p_tenant, p_outbound);
end $$;

-- The turn's reply takes the place of the row that was held for it, however it comes into the outbox.
create function adopt_stream()
returns trigger
language plpgsql as $$
declare
    v_stream text;
    v_at timestamptz;
begin
    delete from outbound o
    where o.tenant_id = new.tenant_id and o.turn_id = new.turn_id and o.state = 'held' and o.stream_at is not null
    returning o.stream, o.stream_at into v_stream, v_at;
    if found then
        new.stream := v_stream;
        new.stream_at := v_at;
    end if;
    return new;
end $$;
create trigger adopt_stream before insert on outbound for each row
    when (new.kind = 'reply' and new.turn_id is not null and new.stream_at is null) execute function adopt_stream();

-- A turn that ended without a reply leaves a growing message behind: its row, without text, is sent by taking that
-- message back. At the commit, when it is certain that no reply came.
create function release_stream()
returns trigger
language plpgsql as $$
begin
    perform release_outbound(o.tenant_id, o.id) from outbound o
    where o.tenant_id = new.tenant_id and o.turn_id = new.id and o.state = 'held' and o.stream_at is not null;
    return null;
end $$;
create constraint trigger release_stream after update of state on turns deferrable initially deferred for each row
    when (new.state <> 'running') execute function release_stream();

-- Ends a row whose growing message was taken back: nothing is owed any more. Repeatable.
create function end_stream(p_tenant text, p_outbound text, p_fence bigint)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound) then
        perform hold_outbound(p_tenant, p_outbound, p_fence);
        delete from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    end if;
end $$;

-- Comes back to a row later, having counted the attempt. Repeatable.
create function put_off_outbound(p_tenant text, p_outbound text, p_fence bigint, p_delay interval)
returns void
language plpgsql as $$
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set state = 'ready', attempts = o.attempts + 1, owner = null, lease_until = null,
        next_attempt_at = clock_timestamp() + p_delay
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

-- What the person let a turn spend beyond the caps, by the step at which they were asked.
alter table reservations add column allowed numeric(14, 8) not null default 0 check (allowed >= 0);

-- As in 0011, but with a cap for the task too, either may be null; and gives the cap that would be passed, 'day' or
-- 'task', or '' when all is well.
drop function reserve_money(text, text, text, int, int, date, text, numeric, numeric, interval);
create function reserve_money(
    p_tenant text, p_turn text, p_agent_path text, p_step int, p_call_index int, p_day date, p_task text,
    p_amount numeric, p_cap numeric, p_held interval, p_task_cap numeric default null)
returns text
language plpgsql as $$
declare
    v_spent numeric;
    v_task_spent numeric;
    v_held numeric;
    v_task_held numeric;
    v_allowed numeric;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    v_spent := lock_spending(p_tenant, p_day);
    delete from reservations r where r.tenant_id = p_tenant and r.day < p_day - 7;
    select coalesce(sum(r.amount), 0), coalesce(sum(r.amount) filter (where r.task_id = p_task), 0)
    into v_held, v_task_held from reservations r
    where r.tenant_id = p_tenant and r.day = p_day and not r.settled and r.held_until > clock_timestamp()
      and (r.turn_id, r.agent_path, r.step, r.call_index) <> (p_turn, p_agent_path, p_step, p_call_index);
    select coalesce(sum(r.allowed), 0) into v_allowed from reservations r
    where r.tenant_id = p_tenant and r.turn_id = p_turn;
    if v_spent + v_held + p_amount > p_cap + v_allowed then
        return 'day';
    end if;
    if p_task <> '' and p_task_cap is not null then
        select coalesce(max(s.spent), 0) into v_task_spent from spending s
        where s.tenant_id = p_tenant and s.day = p_day and s.task_id = p_task;
        if v_task_spent + v_task_held + p_amount > p_task_cap + v_allowed then
            return 'task';
        end if;
    end if;
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, held_until)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, p_day, p_task, p_amount, clock_timestamp() + p_held)
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set day = excluded.day, amount = excluded.amount, held_until = excluded.held_until
    where not r.settled;
    return '';
end $$;

-- Lets a turn spend more than the caps, once for each step at which the person said so.
create function allow_money(
    p_tenant text, p_turn text, p_agent_path text, p_step int, p_call_index int, p_day date, p_task text,
    p_more numeric)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, allowed,
                                   held_until)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, p_day, p_task, 0, p_more, clock_timestamp())
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update set allowed = excluded.allowed;
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('reserve_money', 'allow_money',
                            'begin_stream', 'keep_stream', 'forget_stream', 'stream_overtaken', 'stream_leads',
                            'adopt_stream', 'release_stream', 'end_stream', 'put_off_outbound')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
