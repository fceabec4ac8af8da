-- Tasks do not grow without end: runs that are over go after a time, with their lanes, turns and journals, and so do
-- tasks that have ended. Channels publish only what a task really waits for, and say where it would go round in
-- circles. Runs speak on channels that are on.

create index task_runs_over on task_runs (finished_at) where finished_at is not null;

-- When a task ended, by the database's clock.
alter table tasks add column ended_at timestamptz;
update tasks set ended_at = clock_timestamp() where state = 'COMPLETED';
create index tasks_over on tasks (ended_at) where ended_at is not null;
create function note_task_end()
returns trigger
language plpgsql as $$
begin
    new.ended_at := case when new.state = 'COMPLETED' then clock_timestamp() end;
    return new;
end $$;
create trigger tasks_end before update of state on tasks for each row
    when (old.state is distinct from new.state) execute function note_task_end();

-- Deletes runs that have been over for so long, with their lanes, turns and journals. What the person was told stays:
-- messages and history only forget which turn they came from.
create function prune_runs(p_kept interval, p_limit int)
returns table (pruned bigint, left_over bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_run record;
    v_pruned bigint := 0;
begin
    for v_run in select r.tenant_id, r.id, r.turn_id from task_runs r
                 where r.finished_at < clock_timestamp() - p_kept
                 order by r.finished_at limit p_limit for update skip locked
    loop
        if v_run.turn_id is not null then
            update history h set turn_id = null where h.tenant_id = v_run.tenant_id and h.turn_id = v_run.turn_id;
            update outbound o set turn_id = null where o.tenant_id = v_run.tenant_id and o.turn_id = v_run.turn_id;
            delete from lanes l where l.tenant_id = v_run.tenant_id and l.id = v_run.id;
        end if;
        delete from task_runs r where r.tenant_id = v_run.tenant_id and r.id = v_run.id;
        v_pruned := v_pruned + 1;
    end loop;
    return query select v_pruned, greatest(0, p_limit - v_pruned);
end $$;

-- Deletes tasks that ended so long ago, once their runs are gone.
create function prune_tasks(p_kept interval, p_limit int)
returns table (pruned bigint, left_over bigint)
language sql security definer set search_path = public, pg_temp as $$
    with gone as (
        delete from tasks t using (
            select o.tenant_id, o.id from tasks o
            where o.ended_at < clock_timestamp() - p_kept
              and not exists (select 1 from task_runs r where r.tenant_id = o.tenant_id and r.task_id = o.id)
            order by o.ended_at limit p_limit for update skip locked) o
        where t.tenant_id = o.tenant_id and t.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

-- How often a task has run on events since a moment of the database's clock.
create function count_event_runs(p_tenant text, p_task text, p_within interval)
returns bigint
language plpgsql stable as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return (select count(*) from task_runs r where r.tenant_id = p_tenant and r.task_id = p_task
            and r.created_at > clock_timestamp() - p_within and r.state <> 'SKIPPED');
end $$;

-- A pattern of a task's: * and ? are wild. One with brackets is left to the task itself.
create function may_match(p_text text, p_pattern text)
returns boolean
language sql immutable as $$
    select p_pattern is null or position('[' in p_pattern) > 0 or p_text like
        replace(replace(replace(replace(replace(p_pattern, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%'), '?', '_')
$$;

-- Whether an active task of theirs waits for this very kind of event of this channel, or a plugin asked for all.
create function wants_channel_event(p_tenant text, p_channel text, p_type text)
returns boolean
language sql stable as $$
    select exists (select 1 from tasks t where t.tenant_id = p_tenant and t.kind = 'event' and t.state = 'ACTIVE'
                   and may_match(p_channel, t.trigger ->> 'source') and may_match(p_type, t.trigger ->> 'type'))
        or exists (select 1 from tenants t where t.tenant_id = p_tenant and t.channel_events)
$$;
-- Tasks had set this, for good; they are asked themselves now.
update tenants set channel_events = false where channel_events;

create or replace function note_received()
returns trigger
language plpgsql as $$
begin
    if wants_channel_events(new.tenant_id) then
        perform publish_event(new.tenant_id, c.channel, new.id, '', 'message.received',
            jsonb_build_object('message_id', new.id, 'conversation_id', new.conversation_id, 'text', new.text,
                               'media', jsonb_array_length(new.media)), new.received_at)
        from conversations c where c.tenant_id = new.tenant_id and c.id = new.conversation_id
          and wants_channel_event(new.tenant_id, c.channel, 'message.received');
    end if;
    return null;
end $$;

-- `task_id` is the task that the message came from. `again`: its run was itself due to a message that failed, so that
-- running a task for it would go on for ever.
create or replace function note_undelivered()
returns trigger
language plpgsql as $$
declare
    v_task text;
    v_again boolean;
begin
    if not wants_channel_events(new.tenant_id) then
        return null;
    end if;
    select max(r.task_id), bool_or(r.cause ->> 'type' = 'delivery.failed') into v_task, v_again
    from task_runs r where r.tenant_id = new.tenant_id and (r.turn_id = new.turn_id or r.id in (
        select n.run_id from notifications n where n.tenant_id = new.tenant_id and (n.outbound_id = new.id
            or n.digest_id in (select d.id from notifications d
                               where d.tenant_id = new.tenant_id and d.outbound_id = new.id))));
    perform publish_event(new.tenant_id, c.channel, new.id, '', 'delivery.failed',
        jsonb_build_object('outbound_id', new.id, 'conversation_id', new.conversation_id, 'kind', new.kind,
                           'reason', new.reason, 'task_id', coalesce(v_task, ''), 'again', coalesce(v_again, false)),
        clock_timestamp())
    from conversations c where c.tenant_id = new.tenant_id and c.id = new.conversation_id
      and wants_channel_event(new.tenant_id, c.channel, 'delivery.failed');
    return null;
end $$;

-- Where a person is spoken to unasked, among the channels that are on (none named: all).
drop function begin_run(text, text);
drop function home_conversation(text, text);
create function home_conversation(p_tenant text, p_channel text, p_on text[] default '{}')
returns text
language sql stable as $$
    select c.id from conversations c
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    join tenants t on t.tenant_id = c.tenant_id
    where c.tenant_id = p_tenant and i.state = 'active' and c.channel not in ('push', 'email')
      and (p_on = '{}' or c.channel = any (p_on))
    order by (c.channel = p_channel) desc, (c.channel = t.preferred_channel) desc, (c.thread = '') desc,
             c.last_inbound_at desc nulls last, c.id
    limit 1
$$;

-- Notes that a run's turn runs, and where its person is spoken to, which is settled when it begins.
create function begin_run(p_tenant text, p_turn text, p_on text[] default '{}')
returns table (run_id text, history jsonb, conversation_id text)
language plpgsql as $$
declare
    v_home text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select 1 from task_runs r where r.tenant_id = p_tenant and r.turn_id = p_turn and r.started_at is null) then
        select home_conversation(p_tenant, coalesce(k.output ->> 'channel', ''), p_on) into v_home
        from task_runs r join tasks k on k.tenant_id = r.tenant_id and k.id = r.task_id
        where r.tenant_id = p_tenant and r.turn_id = p_turn;
        update turns t set conversation_id = v_home where t.tenant_id = p_tenant and t.id = p_turn;
        update task_runs r set conversation_id = v_home, started_at = clock_timestamp()
        where r.tenant_id = p_tenant and r.turn_id = p_turn;
    end if;
    return query update task_runs r set state = 'RUNNING'
    where r.tenant_id = p_tenant and r.turn_id = p_turn and r.state in ('QUEUED', 'RUNNING', 'PENDING_APPROVAL')
    returning r.id, r.history, r.conversation_id;
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('note_task_end', 'prune_runs', 'prune_tasks', 'count_event_runs', 'may_match',
                            'wants_channel_event', 'note_received', 'note_undelivered', 'home_conversation', 'begin_run')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
