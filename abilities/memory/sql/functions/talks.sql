-- Talks: the turns whose words no model has read yet, for memories and for facts about the person.

-- Puts a turn among those that no model has read. Counted as far as matters: see claim_talk.
create function put_unread(p_tenant text, p_turn text)
returns void
language sql as $$
    insert into profile_jobs (tenant_id, turn_id, not_before, unread)
    select p_tenant, p_turn, clock_timestamp(), 1 + count(*)
    from (select from profile_jobs j where j.tenant_id = p_tenant and j.attempts = 0 limit 100) waiting
    on conflict do nothing;
$$;

create or replace function enqueue_profile()
returns trigger
language plpgsql as $$
begin
    if exists (select from inbound i where i.tenant_id = new.tenant_id and i.turn_id = new.id and i.command is null
               and length(words_of(i)) >= 8) then
        perform put_unread(new.tenant_id, new.id);
    end if;
    return null;
end $$;

create or replace trigger turns_profile after update of state on turns
    for each row when (old.state = 'running' and new.state in ('done', 'waiting')) execute function enqueue_profile();

-- Has a turn's words read if statements of it were stored that no model has read.
create function enqueue_talk(p_tenant text, p_turn text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform put_unread(p_tenant, p_turn)
    where exists (select from memories m where m.tenant_id = p_tenant and m.turn_id = p_turn
                  and m.extractor = 'rules, until read');
end $$;

-- Claims all unread turns of one person whom no other worker is reading: of one who has been quiet for the pause, who
-- has said so many messages, or whose earlier reading failed and is due again, in the order in which they were said: a
-- later statement replaces an earlier one. Each of the three is looked for by an index of its own, and the person's
-- other turns by subqueries: a join would read those of everybody who waits. Materialized, and ordered once more: see
-- claim_next_event.
create function claim_talk(p_owner text, p_ttl interval, p_limit int, p_pause interval, p_messages int)
returns table (tenant_id text, turn_id text, attempts int)
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_now timestamptz := clock_timestamp();
    v_tenant text;
begin
    if is_halted() then
        return;
    end if;
    select d.tenant_id into v_tenant from (
        (select j.tenant_id, j.not_before from profile_jobs j
         where j.attempts > 0 and j.not_before <= v_now
           and (select count(*) from profile_jobs l where l.tenant_id = j.tenant_id and l.lease_until >= v_now) = 0
         order by j.not_before limit 1)
        union all
        (select j.tenant_id, j.not_before from profile_jobs j
         where j.attempts = 0 and j.not_before <= v_now - p_pause
           and (select max(n.not_before) from profile_jobs n where n.tenant_id = j.tenant_id and n.attempts = 0)
               <= v_now - p_pause
           and (select count(*) from profile_jobs l where l.tenant_id = j.tenant_id and l.lease_until >= v_now) = 0
         order by j.not_before limit 1)
        union all
        -- Counted once more: of those that waited then, some may have been read or deleted since.
        (select j.tenant_id, j.not_before from profile_jobs j
         where j.attempts = 0 and j.unread >= p_messages and j.not_before <= v_now
           and (select count(*) from (select from profile_jobs w where w.tenant_id = j.tenant_id and w.attempts = 0
                                      and w.not_before <= v_now limit p_messages) waiting) >= p_messages
           and (select count(*) from profile_jobs l where l.tenant_id = j.tenant_id and l.lease_until >= v_now) = 0
         order by j.not_before limit 1)) d
    order by d.not_before limit 1;
    if v_tenant is null or not pg_try_advisory_xact_lock(hashtextextended('profile' || chr(31) || v_tenant, 0)) then
        return;
    end if;
    return query
    with due as materialized (
        select d.tenant_id, d.turn_id from profile_jobs d
        where d.tenant_id = v_tenant and (d.lease_until is null or d.lease_until < clock_timestamp())
        order by d.not_before, d.turn_id limit p_limit for update skip locked),
    claimed as (
        update profile_jobs j
        set owner = p_owner, lease_until = clock_timestamp() + p_ttl, attempts = j.attempts + 1
        from due where j.tenant_id = due.tenant_id and j.turn_id = due.turn_id
        returning j.tenant_id, j.turn_id, j.attempts, j.not_before)
    select c.tenant_id, c.turn_id, c.attempts from claimed c order by c.not_before, c.turn_id;
end $$;

-- Keeps a talk for longer; returns false where another worker may have it by now.
create function extend_talk(p_tenant text, p_owner text, p_ttl interval)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update profile_jobs j set lease_until = clock_timestamp() + p_ttl
    where j.tenant_id = p_tenant and j.owner = p_owner and j.lease_until > clock_timestamp();
    return found;
end $$;

-- Returns what a talk of some turns is read with: the person's own words, as only those say something about them, what
-- both sides said, the oldest statements that no model has read, what is known of the person, and their timezone.
create function read_talk(p_tenant text, p_turns text[], p_most int)
returns table (words text[], said jsonb, unread jsonb, facts jsonb, timezone text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select
        array(select words_of(i) from inbound i
              where i.tenant_id = p_tenant and i.turn_id = any (p_turns) and i.command is null and words_of(i) <> ''
                and i.origin = 'own'
                -- Words that were changed within their turn count no longer.
                and not exists (select from changes_of(i) c where c.turn_id = i.turn_id and c.state = 'done')
              order by i.received_at, i.seq),
        (select coalesce(jsonb_agg(to_jsonb(s)), '[]') from said_in_turns(p_tenant, p_turns) s),
        (select coalesce(jsonb_agg(to_jsonb(u)), '[]') from (
            select m.* from memories m where m.tenant_id = p_tenant and m.extractor = 'rules, until read'
            order by m.number limit p_most) u),
        (select coalesce(jsonb_agg(to_jsonb(f)), '[]') from read_profile(p_tenant) f),
        (select t.timezone from tenants t where t.tenant_id = p_tenant);
end $$;

create function end_talk(p_tenant text, p_owner text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from profile_jobs j where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;

-- Puts a talk back for a later attempt. p_tried: whether this one counts.
create function leave_talk(p_tenant text, p_owner text, p_delay interval, p_tried boolean default true)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update profile_jobs j
    set owner = null, lease_until = null, not_before = clock_timestamp() + p_delay,
        attempts = j.attempts - (not p_tried)::int
    where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;
