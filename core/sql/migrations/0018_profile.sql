-- Profiles: what is known about a person, each fact told or inferred, and every change undoable.

-- One row per fact as it was at a time. In force: not replaced and not undone. What was undone is not inferred again.
create table profile_facts (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    number      bigint not null,
    key         text not null check (key ~ '^[a-z][a-z0-9_]{0,39}$'),
    value       text not null check (length(value) between 1 and 300),
    source      text not null check (source in ('told', 'inferred', 'outside')),
    turn_id     text not null default '',
    since       timestamptz not null,
    replaced_by text,
    undone_at   timestamptz,
    primary key (tenant_id, id),
    unique (tenant_id, number)
);
create index profile_facts_in_force on profile_facts (tenant_id, key) where replaced_by is null and undone_at is null;

-- Turns whose words nobody has looked at yet. Made with the end of the turn, so that none is forgotten.
create table profile_jobs (
    tenant_id   text not null,
    turn_id     text not null,
    not_before  timestamptz not null default clock_timestamp() + interval '20 seconds',
    attempts    int not null default 0,
    owner       text,
    lease_until timestamptz,
    primary key (tenant_id, turn_id),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index profile_jobs_due on profile_jobs (not_before);

create function owe_profile()
returns trigger
language plpgsql as $$
begin
    if exists (select from inbound i where i.tenant_id = new.tenant_id and i.turn_id = new.id and i.command is null
               and length(i.text) >= 8) then
        insert into profile_jobs (tenant_id, turn_id) values (new.tenant_id, new.id) on conflict do nothing;
    end if;
    return null;
end $$;
create trigger turns_profile after update of state on turns
    for each row when (old.state = 'running' and new.state in ('done', 'waiting')) execute function owe_profile();

-- Takes all that is due of one person, once nobody else has it: a person whose newest is not due yet talks on, and
-- is looked at afterwards, all at once. Repeating the call as the same owner gives the same again.
create function claim_profile(p_owner text, p_ttl interval, p_most int)
returns table (tenant_id text, turn_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
begin
    select j.tenant_id into v_tenant from profile_jobs j
    where j.not_before <= clock_timestamp() and (j.lease_until is null or j.lease_until < clock_timestamp())
      and (j.attempts >= 3 or not exists (
          select from profile_jobs n where n.tenant_id = j.tenant_id and n.not_before > clock_timestamp()
            and n.attempts = 0 and j.not_before > clock_timestamp() - interval '2 minutes'))
    order by j.not_before limit 1;
    if v_tenant is null or not pg_try_advisory_xact_lock(hashtextextended('profile' || chr(31) || v_tenant, 0)) then
        return;
    end if;
    return query update profile_jobs j
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, attempts = j.attempts + 1
    where (j.tenant_id, j.turn_id) in (
        select d.tenant_id, d.turn_id from profile_jobs d
        where d.tenant_id = v_tenant and (d.lease_until is null or d.lease_until < clock_timestamp())
        order by d.not_before limit p_most for update skip locked)
    returning j.tenant_id, j.turn_id;
end $$;

-- What was said in these turns, by the person alone.
create function read_profile_words(p_tenant text, p_turns text[])
returns table (turn_id text, text text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select i.turn_id, i.text from inbound i
    where i.tenant_id = p_tenant and i.turn_id = any (p_turns) and i.command is null and i.text <> ''
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

-- Keeps a fact in place of what was known under its key. What was told is not replaced by what was inferred, nor is
-- inferred again what was undone. Gives its number, null where nothing changed.
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

-- Takes a fact back, and puts what it replaced in its place again. Gives what was taken back.
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

create function end_profile(p_tenant text, p_owner text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from profile_jobs j where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;

-- Lets them be tried again later; after the third time they are let go of.
create function leave_profile(p_tenant text, p_owner text, p_delay interval)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from profile_jobs j where j.tenant_id = p_tenant and j.owner = p_owner and j.attempts >= 3;
    update profile_jobs j set owner = null, lease_until = null, not_before = clock_timestamp() + p_delay
    where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['profile_facts', 'profile_jobs'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy one_tenant on %I to onevalet_app '
            'using (tenant_id = nullif(current_setting(''onevalet.tenant'', true), '''')) '
            'with check (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))', name);
        execute format('create policy owner on %I to current_user using (true) with check (true)', name);
        execute format('grant select, insert, update, delete on %I to onevalet_app', name);
    end loop;
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('owe_profile', 'claim_profile', 'read_profile_words', 'read_profile', 'keep_fact',
                            'undo_fact', 'end_profile', 'leave_profile')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
