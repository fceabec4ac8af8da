-- Profiles: facts about a person, and the turns whose words no model has read yet, for memories and for facts.

create or replace function enqueue_profile()
returns trigger
language plpgsql as $$
begin
    if exists (select from inbound i where i.tenant_id = new.tenant_id and i.turn_id = new.id and i.command is null
               and length(words_of(i)) >= 8) then
        insert into profile_jobs (tenant_id, turn_id, not_before) values (new.tenant_id, new.id, clock_timestamp())
        on conflict do nothing;
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
    insert into profile_jobs (tenant_id, turn_id, not_before)
    select p_tenant, p_turn, clock_timestamp()
    where exists (select from memories m where m.tenant_id = p_tenant and m.turn_id = p_turn
                  and m.extractor = 'rules, until read')
    on conflict do nothing;
end $$;

-- Claims all unread turns of one person whom no other worker is reading: of one who has been quiet for the pause, who
-- has said so many messages, or whose earlier reading failed and is due again, in the order in which they were said: a
-- later statement replaces an earlier one. Materialized, and ordered once more: see find_event_work.
create function claim_talk(p_owner text, p_ttl interval, p_limit int, p_pause interval, p_messages int)
returns table (tenant_id text, turn_id text, attempts int)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
begin
    select j.tenant_id into v_tenant from profile_jobs j
    group by j.tenant_id
    having coalesce(max(j.lease_until) < clock_timestamp(), true) and (
        max(j.not_before) filter (where j.attempts = 0) <= clock_timestamp() - p_pause
        or count(*) filter (where j.attempts = 0) >= p_messages
        or min(j.not_before) filter (where j.attempts > 0) <= clock_timestamp())
    order by min(j.not_before) limit 1;
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

-- Returns the person's own words in these turns: only those say something about them.
create function read_talk_words(p_tenant text, p_turns text[])
returns table (turn_id text, text text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select i.turn_id, words_of(i) from inbound i
    where i.tenant_id = p_tenant and i.turn_id = any (p_turns) and i.command is null and words_of(i) <> ''
      and i.origin = 'own'
    order by i.received_at, i.seq;
end $$;

create function read_profile(p_tenant text)
returns table (number bigint, key text, value text, source text, since timestamptz)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select f.number, f.key, f.value, f.source, f.since from profile_facts f
    where f.tenant_id = p_tenant and f.replaced_by is null and f.undone_at is null order by f.number;
end $$;

-- Stores a fact, replacing the one under its key. An inferred fact neither replaces a told one, nor one that was
-- undone. Returns its number, or null if nothing changed.
create function keep_fact(
    p_tenant text, p_id text, p_key text, p_value text, p_source text, p_turn text, p_now timestamptz)
returns bigint
language plpgsql as $$
declare
    v_number bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    select f.number into v_number from profile_facts f where f.tenant_id = p_tenant and f.id = p_id;
    if found then
        return v_number;
    end if;
    if exists (select from profile_facts f where f.tenant_id = p_tenant and f.key = p_key and f.replaced_by is null
               and f.undone_at is null
               and (lower(f.value) = lower(p_value) and (f.source = 'told' or p_source <> 'told')
                    or f.source = 'told' and p_source <> 'told'))
       or p_source <> 'told' and exists (
           select from profile_facts f where f.tenant_id = p_tenant and f.key = p_key and f.undone_at is not null
             and lower(f.value) = lower(p_value)) then
        return null;
    end if;
    select coalesce(max(f.number), 0) + 1 into v_number from profile_facts f where f.tenant_id = p_tenant;
    update profile_facts f set replaced_by = p_id
    where f.tenant_id = p_tenant and f.key = p_key and f.replaced_by is null and f.undone_at is null;
    insert into profile_facts (tenant_id, id, number, key, value, source, turn_id, since)
    values (p_tenant, p_id, v_number, p_key, p_value, p_source, p_turn, p_now);
    return v_number;
end $$;

-- Undoes a fact and restores the one that it replaced. Returns the fact that was undone.
create function undo_fact(p_tenant text, p_number bigint, p_now timestamptz)
returns table (key text, value text, before text)
language plpgsql as $$
declare
    v_fact profile_facts%rowtype;
    v_before text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    update profile_facts f set undone_at = p_now
    where f.tenant_id = p_tenant and f.number = p_number and f.undone_at is null and f.replaced_by is null
    returning f.* into v_fact;
    if v_fact.id is null then
        return;
    end if;
    update profile_facts f set replaced_by = null
    where f.tenant_id = p_tenant and f.replaced_by = v_fact.id and f.undone_at is null
    returning f.value into v_before;
    return query select v_fact.key, v_fact.value, coalesce(v_before, '');
end $$;

-- Undoes a fact as above, once for a call: a repeat of it returns the same again.
create function undo_fact(p_tenant text, p_number bigint, p_now timestamptz, p_call text)
returns table (key text, value text, before text)
language plpgsql as $$
declare
    v_gone jsonb;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    select v.value into v_gone from read_values(p_tenant, 'fact_calls', p_call) v;
    if v_gone is null then
        select to_jsonb(u) into v_gone from undo_fact(p_tenant, p_number, p_now) u;
        if v_gone is null then
            return;
        end if;
        perform keep_call(p_tenant, 'fact_calls', p_call, v_gone);
    end if;
    return query select v_gone ->> 'key', v_gone ->> 'value', v_gone ->> 'before';
end $$;

-- Lets a fact count again that was undone, in place of the older one; nothing where a newer one has its key by now.
create function restore_fact(p_tenant text, p_number bigint)
returns table (key text, value text)
language plpgsql as $$
declare
    v_fact profile_facts%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    select f.* into v_fact from profile_facts f where f.tenant_id = p_tenant and f.number = p_number;
    if v_fact.id is null or exists (
            select from profile_facts f where f.tenant_id = p_tenant and f.key = v_fact.key and f.replaced_by is null
              and f.undone_at is null and f.number > p_number) then
        return;
    end if;
    update profile_facts f set replaced_by = v_fact.id
    where f.tenant_id = p_tenant and f.key = v_fact.key and f.replaced_by is null and f.undone_at is null
      and f.id <> v_fact.id;
    update profile_facts f set undone_at = null where f.tenant_id = p_tenant and f.id = v_fact.id;
    return query select v_fact.key, v_fact.value;
end $$;

create function end_talk(p_tenant text, p_owner text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from profile_jobs j where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;

-- Puts a talk back for a later attempt.
create function leave_talk(p_tenant text, p_owner text, p_delay interval)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update profile_jobs j set owner = null, lease_until = null, not_before = clock_timestamp() + p_delay
    where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;
