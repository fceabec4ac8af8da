-- What is deleted by its age, of all people. Each call takes some rows at a time, passes over rows that are at work, and
-- returns how many it found, so that whoever calls repeats it until there is nothing more.

-- Called in the transaction that deletes a turn, or its journal.
create function keep_of_turn(p_tenant text, p_turn text)
returns void
language plpgsql as $$
begin
    -- What abilities keep of it for longer is kept by their sql/keep_of_turn.sql.
end $$;

-- Deletes turns that ended before p_before with all that belongs to them: what was written and answered, history, journal
-- and approvals. A turn of which something is still open stays.
create function prune_messages(p_before timestamptz, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_tenants text[];
    v_turns text[];
begin
    select array_agg(o.tenant_id), array_agg(o.id) into v_tenants, v_turns from (
        select t.tenant_id, t.id from turns t
        where t.finished_at < p_before and t.state not in ('running', 'waiting')
          and not exists (select from approvals a
                          where a.tenant_id = t.tenant_id and a.turn_id = t.id and a.state = 'pending')
          -- Each by the index of its few rows: no index has both.
          and not exists (select from outbound o where o.tenant_id = t.tenant_id and o.turn_id = t.id
                          and o.state in ('ready', 'sending', 'checking'))
          and not exists (select from outbound o where o.tenant_id = t.tenant_id and o.turn_id = t.id and o.state = 'held')
        order by t.finished_at limit p_limit for update skip locked) o;
    if v_turns is null then
        return 0;
    end if;
    perform keep_of_turn(p.tenant_id, p.turn_id) from unnest(v_tenants, v_turns) p (tenant_id, turn_id);
    delete from inbound i using unnest(v_tenants, v_turns) p (tenant_id, turn_id) where i.tenant_id = p.tenant_id and i.turn_id = p.turn_id;
    delete from history h using unnest(v_tenants, v_turns) p (tenant_id, turn_id) where h.tenant_id = p.tenant_id and h.turn_id = p.turn_id;
    delete from turns t using unnest(v_tenants, v_turns) p (tenant_id, turn_id) where t.tenant_id = p.tenant_id and t.id = p.turn_id;
    return cardinality(v_turns);
end $$;

-- The same for messages that belong to no turn, and for what is kept beside all messages: the words by which they are
-- found, and the keys by which one that comes again is known.
create function prune_messages_apart(p_before timestamptz, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_all int := 0;
    v_count int;
begin
    with old as materialized (
        select o.tenant_id, o.id from inbound o
        where o.turn_id is null and o.received_at < p_before and o.state in ('done', 'ignored')
        order by o.received_at limit p_limit for update skip locked)
    delete from inbound i using old o where i.tenant_id = o.tenant_id and i.id = o.id;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    with old as materialized (
        select o.tenant_id, o.id from outbound o
        where o.turn_id is null and o.created_at < p_before and o.state not in ('held', 'ready', 'sending', 'checking')
        order by o.created_at limit p_limit for update skip locked)
    delete from outbound b using old o where b.tenant_id = o.tenant_id and b.id = o.id;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    with old as materialized (
        select o.tenant_id, o.conversation_id, o.position from history o
        where o.turn_id is null and o.created_at < p_before
        order by o.created_at limit p_limit for update skip locked)
    delete from history h using old o
    where h.tenant_id = o.tenant_id and h.conversation_id = o.conversation_id and h.position = o.position;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    with old as materialized (
        select o.tenant_id, o.message_id from message_words o
        where o.at < p_before order by o.at limit p_limit for update skip locked)
    delete from message_words w using old o where w.tenant_id = o.tenant_id and w.message_id = o.message_id;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    with old as materialized (
        select o.tenant_id, o.channel, o.account, o.key from inbox_keys o
        where o.received_at < p_before order by o.received_at limit p_limit for update skip locked)
    delete from inbox_keys k using old o
    where k.tenant_id = o.tenant_id and k.channel = o.channel and k.account = o.account and k.key = o.key;
    get diagnostics v_count = row_count;
    return v_all + v_count;
end $$;

-- Deletes what was noted of model and tool calls in turns that ended before p_before. A call with an unknown outcome
-- stays as long as its turn: the same call is refused without approval.
create function prune_journals(p_before timestamptz, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_from timestamptz;
    v_upto timestamptz;
    v_held timestamptz;
    v_count int;
begin
    insert into retention_marks values ('journals', '-infinity') on conflict do nothing;
    select m.upto into v_from from retention_marks m where m.kind = 'journals' for update skip locked;
    if not found then
        return 0;
    end if;
    select max(o.finished_at) into v_upto from (
        select t.finished_at from turns t where t.finished_at > v_from and t.finished_at < p_before
        order by t.finished_at limit p_limit) o;
    -- Before anything of them, as a deletion does. What others hold comes later, with all that ended after it.
    with ours as materialized (
        select t.tenant_id, t.id from turns t
        where t.finished_at > v_from and t.finished_at <= v_upto and t.state not in ('running', 'waiting')
        for update skip locked)
    select min(t.finished_at) into v_held from turns t
    where t.finished_at > v_from and t.finished_at <= v_upto and t.state not in ('running', 'waiting')
      and not exists (select from ours o where o.tenant_id = t.tenant_id and o.id = t.id);
    if v_held is not null then
        v_upto := (select max(t.finished_at) from turns t where t.finished_at > v_from and t.finished_at < v_held);
    end if;
    if v_upto is null then
        return 0;
    end if;
    perform keep_of_turn(t.tenant_id, t.id) from turns t
    where t.finished_at > v_from and t.finished_at <= v_upto and t.state not in ('running', 'waiting');
    delete from steps s using turns t
    where t.finished_at > v_from and t.finished_at <= v_upto and s.tenant_id = t.tenant_id and s.turn_id = t.id
      and s.outcome <> 'unknown' and t.state not in ('running', 'waiting');
    -- What abilities noted of turns that ended after v_from, until v_upto, is deleted by their sql/prune_journals.sql.
    update retention_marks m set upto = v_upto where m.kind = 'journals';
    select count(*) into v_count from turns t where t.finished_at > v_from and t.finished_at <= v_upto;
    return v_count;
end $$;

-- Deletes what was recorded of links and exports, of decisions on approvals, and of what operators did and looked at.
create function prune_audit(p_before timestamptz, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_all int := 0;
    v_count int;
begin
    with old as materialized (
        select o.tenant_id, o.id from approval_audit o where o.at < p_before order by o.at limit p_limit)
    delete from approval_audit a using old o where a.tenant_id = o.tenant_id and a.id = o.id;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    with old as materialized (select o.tenant_id, o.id from person_audit o where o.at < p_before limit p_limit)
    delete from person_audit a using old o where a.tenant_id = o.tenant_id and a.id = o.id;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    with old as materialized (select o.tenant_id, o.id from console_looks o where o.at < p_before limit p_limit)
    delete from console_looks a using old o where a.tenant_id = o.tenant_id and a.id = o.id;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    with old as materialized (select o.tenant_id, o.id from console_actions o where o.at < p_before limit p_limit)
    delete from console_actions a using old o where a.tenant_id = o.tenant_id and a.id = o.id;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    -- What abilities keep for as long as the audit is deleted by their sql/prune_audit.sql.
    return v_all;
end $$;

-- Deletes people's daily numbers; those of everybody together stay.
create function prune_usage(p_before date, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_all int := 0;
    v_count int;
    v_first date := (select min(u.day) from usage_days u);
begin
    if v_first < p_before then
        perform sum_closed_days(v_first, p_before - 1);
    end if;
    with old as materialized (select o.ctid as place from usage_days o where o.day < p_before limit p_limit)
    delete from usage_days u using old o where u.ctid = o.place and u.day < p_before;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    with old as materialized (select o.ctid as place from spending o where o.day < p_before limit p_limit)
    delete from spending u using old o where u.ctid = o.place and u.day < p_before;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
    with old as materialized (select o.ctid as place from segment_days o where o.day < p_before limit p_limit)
    delete from segment_days u using old o where u.ctid = o.place and u.day < p_before;
    get diagnostics v_count = row_count;
    return v_all + v_count;
end $$;
