-- Memory: sessions of talk kept for applications, and what is remembered of a person. The truth is here; a worker's
-- structured index is made of these rows alone, and may be thrown away at any time.

-- What makes every worker's index agree: `version` is the number of the newest memory, `epoch` rises whenever one
-- went, and an index of another epoch is dropped.
create table memory_versions (
    tenant_id text primary key references tenants on delete cascade,
    version   bigint not null default 0,
    epoch     bigint not null default 0
);

create table memory_sessions (
    tenant_id     text not null references tenants on delete cascade,
    id            text not null check (length(id) between 1 and 200),
    last_position bigint not null default 0,
    expires_at    timestamptz not null,
    created_at    timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);
create index memory_sessions_due on memory_sessions (expires_at);

create table memory_messages (
    tenant_id  text not null,
    session    text not null,
    position   bigint not null,
    message    jsonb not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, session, position),
    foreign key (tenant_id, session) references memory_sessions on delete cascade
);

-- One statement each. `kind` says where it comes from: told by the person, inferred by the assistant, or from outside
-- content, which never is a fact about the person. valid_to null: it holds. `number` is what the person is shown.
create table memories (
    tenant_id     text not null references tenants on delete cascade,
    id            text not null,
    number        bigint not null,
    collection    text not null default '',
    text          text not null check (length(text) between 1 and 4000),
    speaker       text not null,
    kind          text not null check (kind in ('told', 'inferred', 'outside')),
    source_key    text not null,
    turn_id       text,
    said_at       timestamptz not null,
    slot          text not null default '',
    knowledge     jsonb not null default '{}',
    extractor     text not null default '',
    valid_from    timestamptz not null,
    valid_to      timestamptz,
    superseded_by text,
    repeated      int not null default 0,
    created_at    timestamptz not null default clock_timestamp(),
    words         tsvector generated always as (to_tsvector('english', text) || to_tsvector('simple', text)) stored,
    primary key (tenant_id, id),
    unique (tenant_id, number),
    unique (tenant_id, source_key)
);
create index memories_valid on memories (tenant_id, collection) where valid_to is null;

-- The embedder's name stands beside each vector: after a change of embedder the old ones are of no use to anyone.
create table memory_vectors (
    tenant_id text not null,
    memory_id text not null,
    embedder  text not null,
    embedding vector not null,
    primary key (tenant_id, memory_id, embedder),
    foreign key (tenant_id, memory_id) references memories on delete cascade
);
-- Inline, as far as a page takes it: a scan over all of a person's reads no second table.
alter table memory_vectors alter column embedding set storage main;

create table memory_terms (
    tenant_id text not null references tenants on delete cascade,
    embedder  text not null,
    term      text not null,
    embedding vector not null,
    primary key (tenant_id, embedder, term)
);
alter table memory_terms alter column embedding set storage main;

-- What has yet to be remembered: a turn's words, which lie in history, or messages that were handed over.
create table memory_jobs (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    turn_id     text,
    collection  text not null default '',
    messages    jsonb not null default '[]',
    infer       boolean not null default true,
    attempts    int not null default 0,
    owner       text,
    lease_until timestamptz,
    not_before  timestamptz not null default clock_timestamp(),
    created_at  timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index memory_jobs_due on memory_jobs (not_before);

-- What the person was asked about forgetting, and what must still be blotted out where it was said. The phrases go
-- with the row as soon as that is done.
create table memory_forgettings (
    tenant_id  text not null references tenants on delete cascade,
    id         text not null,
    turn_id    text not null default '',
    memory_ids text[] not null,
    phrases    text[] not null default '{}',
    confirmed  boolean not null default false,
    expires_at timestamptz not null,
    primary key (tenant_id, id)
);

-- Which leg found what in a turn's recall; ids and times, never text.
create table memory_recalls (
    tenant_id  text not null,
    turn_id    text not null,
    report     jsonb not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, turn_id),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);

-- A shared collection is a tenant of its own; who may see it says so among their own rows.
create table memory_members (
    tenant_id text not null references tenants on delete cascade,
    name      text not null check (length(name) between 1 and 200),
    shared_id text not null,
    role      text not null check (role in ('owner', 'member')),
    primary key (tenant_id, name)
);
create index memory_members_shared on memory_members (shared_id);

-- A turn that says something owes memory a look, in the transaction that ends it.
create function owe_memory()
returns trigger
language plpgsql as $$
begin
    insert into memory_jobs (tenant_id, id, turn_id) values (new.tenant_id, new.id, new.id)
    on conflict (tenant_id, id) do update set attempts = 0, not_before = clock_timestamp(), owner = null, lease_until = null;
    return null;
end $$;
create trigger owe_memory after update of state on turns for each row
    when (new.state in ('waiting', 'done', 'failed', 'interrupted') and old.state is distinct from new.state)
    execute function owe_memory();

-- Takes the named job or the one that waits longest; one whose worker died is free when its lease ends.
create function claim_memory_job(p_id text, p_owner text, p_lease interval)
returns table (tenant_id text, id text, attempts int)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    update memory_jobs j set owner = p_owner, lease_until = clock_timestamp() + p_lease, attempts = j.attempts + 1
    from (select m.tenant_id, m.id from memory_jobs m
          where (p_id is null or m.id = p_id) and m.not_before <= clock_timestamp()
            and (m.lease_until is null or m.lease_until < clock_timestamp())
          order by m.not_before limit 1 for update skip locked) free
    where j.tenant_id = free.tenant_id and j.id = free.id
    returning j.tenant_id, j.id, j.attempts;
end $$;

-- Tenants with something confirmed that has yet to be blotted out; and what has run out, of all people.
create function tidy_memory(p_now timestamptz)
returns table (tenant_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    delete from memory_sessions s where s.expires_at <= p_now;
    delete from memory_forgettings f where not f.confirmed and f.expires_at <= p_now;
    return query select distinct f.tenant_id from memory_forgettings f where f.confirmed limit 100;
end $$;

-- Some people with memories that this embedder has not embedded; another few each time, so that one whose memories
-- cannot be embedded holds up nobody.
create function memory_unembedded(p_embedder text, p_most int)
returns table (tenant_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    select owed.tenant_id from (
        select distinct m.tenant_id from memories m
        where not exists (select from memory_vectors v where v.tenant_id = m.tenant_id and v.memory_id = m.id
                          and v.embedder = p_embedder)) owed
    order by random() limit p_most;
end $$;

create function says_any(p_text text, p_phrases text[])
returns boolean
language sql immutable as $$
    select exists (select from unnest(p_phrases) phrase where position(lower(phrase) in lower(p_text)) > 0)
$$;

-- Replaces every string that holds one of the phrases; names of things, which programs read, stay.
create function blot(p_value jsonb, p_phrases text[])
returns jsonb
language plpgsql immutable as $$
begin
    return case jsonb_typeof(p_value)
        when 'string' then case when says_any(p_value #>> '{}', p_phrases) then '"[forgotten]"' else p_value end
        when 'array' then (select coalesce(jsonb_agg(blot(item, p_phrases) order by place), '[]')
                           from jsonb_array_elements(p_value) with ordinality x (item, place))
        when 'object' then (select coalesce(jsonb_object_agg(name, case
                                when name in ('role', 'id', 'tool_call_id', 'type', 'kind') then item
                                else blot(item, p_phrases) end), '{}')
                            from jsonb_each(p_value) x (name, item))
        else p_value
    end;
end $$;

-- Blots phrases out of what was asked, noted and told of beside talk. What a person may still decide on stays as it was
-- sealed, until they have; so does what is still on its way to them, and a task that is still to run. The audit is
-- closed to the application save for this: hence the owner's rights, for this one person's rows.
-- Gives 0 when nothing of what is over in time holds them any more, else 1.
create function blot_out_beside(p_tenant text, p_phrases text[])
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    update approvals a
    set summary = case when says_any(a.summary, p_phrases) then '[forgotten]' else a.summary end,
        arguments = blot(a.arguments, p_phrases), shown = blot(a.shown, p_phrases), form = blot(a.form, p_phrases),
        proposed = blot(a.proposed, p_phrases),
        reason = case when says_any(a.reason, p_phrases) then '[forgotten]' else a.reason end,
        sealed_head = case when says_any(a.sealed_head, p_phrases) then '[forgotten]' else a.sealed_head end,
        sealed_tail = case when says_any(a.sealed_tail, p_phrases) then '[forgotten]' else a.sealed_tail end
    from turns t
    where a.tenant_id = p_tenant and t.tenant_id = a.tenant_id and t.id = a.turn_id and a.state <> 'pending'
      and t.state not in ('running', 'waiting') and says_any(a::text, p_phrases);
    update approval_audit d set detail = blot(d.detail, p_phrases)
    where d.tenant_id = p_tenant and says_any(d.detail::text, p_phrases)
      and not exists (select from approvals a join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
                      where a.tenant_id = p_tenant and a.id = d.approval_id
                        and (a.state = 'pending' or t.state in ('running', 'waiting')));
    update profile_facts f set value = '[forgotten]'
    where f.tenant_id = p_tenant and says_any(f.value, p_phrases);
    update events e set data = blot(e.data, p_phrases)
    where e.tenant_id = p_tenant and says_any(e.data::text, p_phrases) and not exists (
        select from event_work w where w.tenant_id = p_tenant and w.source = e.source and w.event_id = e.id
          and w.state = 'waiting');
    update notifications n set title = case when says_any(n.title, p_phrases) then '[forgotten]' else n.title end,
        text = case when says_any(n.text, p_phrases) then '[forgotten]' else n.text end,
        actions = blot(n.actions, p_phrases), media = blot(n.media, p_phrases)
    where n.tenant_id = p_tenant and n.state not in ('held', 'owed')
      and says_any(n.title || ' ' || n.text || n.actions::text || n.media::text, p_phrases);
    update run_notices r set text = '[forgotten]'
    where r.tenant_id = p_tenant and r.state <> 'open' and says_any(r.text, p_phrases);
    update task_runs r set cause = blot(r.cause, p_phrases), history = blot(r.history, p_phrases)
    where r.tenant_id = p_tenant and r.state not in ('QUEUED', 'RUNNING', 'PENDING_APPROVAL')
      and says_any(r.cause::text || r.history::text, p_phrases);
    update tasks k set title = case when says_any(k.title, p_phrases) then '[forgotten]' else k.title end,
        action = blot(k.action, p_phrases), watch = blot(k.watch, p_phrases)
    where k.tenant_id = p_tenant and (k.state = 'COMPLETED' or k.deleted_at is not null)
      and says_any(k.title || ' ' || k.action::text || k.watch::text, p_phrases);
    return (not (not exists (select from approvals a where a.tenant_id = p_tenant and says_any(a::text, p_phrases))
       and not exists (select from approval_audit d where d.tenant_id = p_tenant and says_any(d.detail::text, p_phrases))
       and not exists (select from events e where e.tenant_id = p_tenant and says_any(e.data::text, p_phrases))
       and not exists (select from run_notices r where r.tenant_id = p_tenant and says_any(r.text, p_phrases))
       and not exists (select from notifications n where n.tenant_id = p_tenant
                       and says_any(n.title || ' ' || n.text, p_phrases))))::int;
end $$;

-- Blots phrases out of all that was said and done with a person, save what is still on its way to them; true when
-- nothing is left of them.
create function blot_out(p_tenant text, p_phrases text[])
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update inbound i set text = '[forgotten]'
    where i.tenant_id = p_tenant and says_any(i.text, p_phrases) and i.state in ('done', 'ignored');
    update inbound i set media = blot(i.media, p_phrases)
    where i.tenant_id = p_tenant and says_any(i.media::text, p_phrases) and i.state in ('done', 'ignored');
    update inbound i set command = blot(i.command, p_phrases)
    where i.tenant_id = p_tenant and says_any(i.command::text, p_phrases) and i.state in ('done', 'ignored');
    update history h set message = blot(h.message, p_phrases)
    where h.tenant_id = p_tenant and says_any(h.message::text, p_phrases);
    update steps s set result = blot(s.result, p_phrases)
    from turns t
    where s.tenant_id = p_tenant and t.tenant_id = s.tenant_id and t.id = s.turn_id
      and t.state not in ('running', 'waiting') and says_any(s.result::text, p_phrases);
    update turns t set reason = case when says_any(t.reason, p_phrases) then '[forgotten]' else t.reason end,
        stop_message = case when says_any(t.stop_message, p_phrases) then '[forgotten]' else t.stop_message end
    where t.tenant_id = p_tenant and t.state not in ('running', 'waiting')
      and (says_any(t.reason, p_phrases) or says_any(t.stop_message, p_phrases));
    update pool_entries e set collected_fields = blot(e.collected_fields, p_phrases), context = blot(e.context, p_phrases)
    where e.tenant_id = p_tenant and e.status in ('CANCELLED', 'COMPLETED')
      and says_any(e.collected_fields::text || e.context::text, p_phrases);
    update outbound_parts q set text = '[forgotten]', data = blot(q.data, p_phrases)
    from outbound o
    where q.tenant_id = p_tenant and o.tenant_id = q.tenant_id and o.id = q.outbound_id
      and o.state in ('sent', 'ambiguous', 'failed') and says_any(q.text || q.data::text, p_phrases);
    update outbound o set text = case when says_any(o.text, p_phrases) then '[forgotten]' else o.text end,
        actions = blot(o.actions, p_phrases), media = blot(o.media, p_phrases)
    where o.tenant_id = p_tenant and o.state in ('sent', 'ambiguous', 'failed')
      and says_any(o.text || o.actions::text || o.media::text, p_phrases);
    update memory_messages m set message = blot(m.message, p_phrases)
    where m.tenant_id = p_tenant and says_any(m.message::text, p_phrases);
    delete from memory_terms t where t.tenant_id = p_tenant and says_any(t.term, p_phrases);
    return blot_out_beside(p_tenant, p_phrases) = 0
       and not exists (select from inbound i where i.tenant_id = p_tenant and says_any(i.text, p_phrases))
       and not exists (select from steps s where s.tenant_id = p_tenant and says_any(s.result::text, p_phrases))
       and not exists (select from memory_jobs j where j.tenant_id = p_tenant and says_any(j.messages::text, p_phrases))
       and not exists (select from outbound o where o.tenant_id = p_tenant and says_any(o.text, p_phrases));
end $$;

-- Makes a shared collection, or gives the one that this person owns under the name.
create function make_shared_collection(p_owner text, p_name text, p_id text)
returns table (shared_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_shared text;
begin
    select m.shared_id into v_shared from memory_members m where m.tenant_id = p_owner and m.name = p_name;
    if v_shared is null then
        insert into tenants (tenant_id, name, role) values (p_id, p_name, 'guest');
        insert into memory_members (tenant_id, name, shared_id, role) values (p_owner, p_name, p_id, 'owner');
        v_shared := p_id;
    end if;
    return query select v_shared;
end $$;

-- Lets someone into a collection, or puts them out; only its owner may. No row: it was not the owner who asked, or the
-- other has a collection of that name already.
create function change_member(p_owner text, p_name text, p_member text, p_in boolean)
returns table (shared_id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_shared text;
begin
    select m.shared_id into v_shared from memory_members m
    where m.tenant_id = p_owner and m.name = p_name and m.role = 'owner';
    if v_shared is null or p_owner = p_member then
        return;
    end if;
    if not p_in then
        return query delete from memory_members m where m.tenant_id = p_member and m.shared_id = v_shared
        returning m.shared_id;
        return;
    end if;
    insert into memory_members (tenant_id, name, shared_id, role) values (p_member, p_name, v_shared, 'member')
    on conflict do nothing;
    return query select m.shared_id from memory_members m
    where m.tenant_id = p_member and m.name = p_name and m.shared_id = v_shared;
end $$;

do $$
declare
    name text;
    f regprocedure;
begin
    foreach name in array array['memory_versions', 'memory_sessions', 'memory_messages', 'memories', 'memory_vectors',
                                'memory_terms', 'memory_jobs', 'memory_forgettings', 'memory_recalls',
                                'memory_members'] loop
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
          and p.proname in ('owe_memory', 'claim_memory_job', 'tidy_memory', 'memory_unembedded', 'says_any', 'blot',
                            'blot_out', 'blot_out_beside', 'make_shared_collection', 'change_member')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
