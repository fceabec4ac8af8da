-- People: what a link put together can be taken apart again within a day, from either side.

-- A link that can be taken back. other_id, other: who the one was that went up into this one, and their row; before:
-- this person's row as it was. made_at is people's time, linked_at the database's.
create table links (
    tenant_id text not null references tenants on delete cascade,
    id        text not null,
    other_id  text not null,
    other     jsonb not null,
    before    jsonb not null,
    made_at   timestamptz not null,
    linked_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);

-- The rows that were the other one's, by table and key (without the tenant), with the number and the name that they
-- had there. copied: both had the same, so there is one now.
create table linked_rows (
    tenant_id text not null references tenants on delete cascade,
    link_id   text not null,
    of        text not null,
    key       text[] not null,
    number    bigint,
    name      text not null default '',
    copied    boolean not null default false,
    primary key (tenant_id, link_id, of, key),
    foreign key (tenant_id, link_id) references links (tenant_id, id) on delete cascade
);

do $$
declare
    name text;
begin
    foreach name in array array['links', 'linked_rows'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy one_tenant on %I to onevalet_app '
            'using (tenant_id = nullif(current_setting(''onevalet.tenant'', true), '''')) '
            'with check (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))', name);
        execute format('create policy owner on %I to current_user using (true) with check (true)', name);
        execute format('grant select, insert, update, delete on %I to onevalet_app', name);
    end loop;
end $$;

-- The first thing that a merge does: writes down what the other one has, before anything is made to fit.
create function note_link(p_kept text, p_gone text, p_link text, p_turn text, p_code_hash bytea, p_now timestamptz)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if not exists (select from link_codes k where k.tenant_id = p_gone and k.code_hash = p_code_hash
                   and k.used_by = p_turn and k.xmin = pg_current_xact_id()::xid) then
        raise exception 'no link was begun';
    end if;
    insert into links (tenant_id, id, other_id, other, before, made_at)
    select p_kept, p_link, p_gone, to_jsonb(g), to_jsonb(k), p_now
    from tenants k, tenants g where k.tenant_id = p_kept and g.tenant_id = p_gone;
    insert into linked_rows (tenant_id, link_id, of, key, number, name)
    select p_kept, p_link, r.of, r.key, r.number, r.name from (
        select 'identities' as of, array[id] as key, null::bigint as number, admitted as name
        from identities where tenant_id = p_gone
        union all select 'tasks', array[id], number, '' from tasks where tenant_id = p_gone
        union all select 'profile_facts', array[id], number, '' from profile_facts where tenant_id = p_gone
        union all select 'memories', array[id], number, '' from memories where tenant_id = p_gone
        union all select 'memory_jobs', array[id], null, '' from memory_jobs where tenant_id = p_gone
        union all select 'memory_forgettings', array[id], null, '' from memory_forgettings where tenant_id = p_gone
        union all select 'event_sources', array[id], null, name from event_sources where tenant_id = p_gone
        union all select 'notifications', array[id], null, '' from notifications where tenant_id = p_gone
        union all select 'links', array[id], null, '' from links where tenant_id = p_gone
        union all select 'stored_values', array[collection, key], number, key from stored_values
        where tenant_id = p_gone
        union all select 'credentials', array[service, account_name], null, account_name from credentials
        where tenant_id = p_gone) r;
end $$;

-- A stranger's address that came by a code can be taken back, too: they were nobody whom anybody let in.
create function note_link_of_stranger(p_tenant text, p_identity text, p_link text, p_other text, p_now timestamptz)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into links (tenant_id, id, other_id, other, before, made_at)
    select p_tenant, p_link, p_other, to_jsonb(t) || jsonb_build_object(
        'tenant_id', p_other, 'role', 'guest', 'tier', '', 'name', '', 'timezone', '', 'language', '',
        'preferred_channel', '', 'quiet_from', '', 'quiet_until', '', 'muted', '[]'::jsonb), to_jsonb(t), p_now
    from tenants t where t.tenant_id = p_tenant;
    insert into linked_rows (tenant_id, link_id, of, key) values (p_tenant, p_link, 'identities', array[p_identity]);
end $$;

-- As in 0025; and what is written down about a link follows a value to its new key.
create or replace function merge_values(p_kept text, p_gone text)
returns void
language plpgsql as $$
declare
    v_value record;
    -- This link, which is not made yet, and those that the one who goes has brought along.
    v_links text[] := array(
        select l.id from links l where l.tenant_id = p_kept and l.other_id = p_gone
        union select r.key[1] from linked_rows r join links l on l.tenant_id = r.tenant_id and l.id = r.link_id
        where l.tenant_id = p_kept and l.other_id = p_gone and r.of = 'links');
    v_key text;
begin
    insert into stored_collections as c (tenant_id, name, last_number)
    select p_kept, g.name, g.last_number from stored_collections g where g.tenant_id = p_gone
    on conflict (tenant_id, name) do update set last_number = greatest(c.last_number, excluded.last_number);
    update linked_rows r set copied = true from stored_values g, stored_values k
    where r.tenant_id = p_kept and r.link_id = any (v_links) and r.of = 'stored_values'
      and r.key = array[g.collection, g.key]
      and g.tenant_id = p_gone and k.tenant_id = p_kept and k.collection = g.collection and k.key = g.key
      and k.value = g.value;
    delete from stored_values g using stored_values k
    where g.tenant_id = p_gone and k.tenant_id = p_kept and k.collection = g.collection and k.key = g.key
      and k.value = g.value;
    for v_value in select * from stored_values g where g.tenant_id = p_gone order by g.collection, g.number loop
        if exists (select from stored_values k where k.tenant_id = p_kept and k.collection = v_value.collection
                   and k.number = v_value.number) then
            update stored_collections c set last_number = c.last_number + 1
            where c.tenant_id = p_kept and c.name = v_value.collection
            returning c.last_number into v_value.number;
        end if;
        if exists (select from stored_values k where k.tenant_id = p_kept and k.collection = v_value.collection
                   and k.key = v_value.key) then
            v_key := v_value.key;
            v_value.key := left(v_value.key, 100) || ' ' || left(p_gone, 99);
            update linked_rows r set key = array[v_value.collection, v_value.key]
            where r.tenant_id = p_kept and r.link_id = any (v_links) and r.of = 'stored_values'
              and r.key = array[v_value.collection, v_key] and not r.copied;
        end if;
        insert into stored_values values (p_kept, v_value.collection, v_value.key, v_value.number, v_value.value,
                                          v_value.created_at);
    end loop;
    delete from stored_collections g where g.tenant_id = p_gone;
end $$;

-- As when links began to raise no role; and what is written down about a link follows a credential to its new name.
create or replace function merge_people(
    p_kept text, p_gone text, p_turn text, p_code_hash bytea, p_rules jsonb, p_sealed jsonb)
returns table (rows_moved bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_rule record;
    v_key text;
    v_count bigint;
begin
    rows_moved := 0;
    if not exists (select from link_codes k where k.tenant_id = p_gone and k.code_hash = p_code_hash
                   and k.used_by = p_turn and k.xmin = pg_current_xact_id()::xid) then
        raise exception 'no link was begun';
    end if;
    for v_rule in
        select c.relname from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attname = 'tenant_id'
          and not a.attisdropped and not p_rules ? c.relname::text
    loop
        raise exception 'the table % has no rule for linking', v_rule.relname;
    end loop;
    set constraints all deferred;
    for v_rule in
        select r.key as of, r.value as how from jsonb_each_text(p_rules) r
        where exists (select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relname = r.key)
        order by r.value = 'values', r.key
    loop
        if v_rule.how in ('move', 'first', 'number') then
            if v_rule.how = 'number' then
                execute format('update %1$I set tenant_id = $1, number = number + coalesce((select max(k.number)'
                               ' from %1$I k where k.tenant_id = $1), 0) where tenant_id = $2', v_rule.of)
                using p_kept, p_gone;
            end if;
            if v_rule.how = 'first' then
                select string_agg(format('k.%1$I = g.%1$I', a.attname), ' and ') into v_key
                from pg_index x join pg_attribute a on a.attrelid = x.indrelid and a.attnum = any (x.indkey)
                where x.indrelid = v_rule.of::regclass and x.indisprimary and a.attname <> 'tenant_id';
                execute format('delete from %1$I g using %1$I k where g.tenant_id = $1 and k.tenant_id = $2 and %2$s',
                               v_rule.of, coalesce(v_key, 'true')) using p_gone, p_kept;
            end if;
            execute format('update %I set tenant_id = $1 where tenant_id = $2', v_rule.of) using p_kept, p_gone;
            get diagnostics v_count = row_count;
            rows_moved := rows_moved + v_count;
        elsif v_rule.how = 'drop' then
            execute format('delete from %I where tenant_id = $1', v_rule.of) using p_gone;
        elsif v_rule.how not in ('values', 'add', 'sealed', 'person') then
            raise exception 'no such rule: %', v_rule.how;
        end if;
    end loop;
    perform merge_values(p_kept, p_gone);
    insert into spending as s (tenant_id, day, task_id, spent)
    select p_kept, g.day, g.task_id, g.spent from spending g where g.tenant_id = p_gone
    on conflict (tenant_id, day, task_id) do update set spent = s.spent + excluded.spent;
    delete from spending g where g.tenant_id = p_gone;
    insert into credentials (tenant_id, service, account_name, key_version, credentials_json, preferred, created_at)
    select p_kept, v.value ->> 'service', v.value ->> 'account_name', (v.value ->> 'key_version')::int,
           decode(v.value ->> 'sealed', 'base64'),
           (v.value ->> 'preferred')::boolean and not exists (
               select from credentials c where c.tenant_id = p_kept and c.service = v.value ->> 'service' and c.preferred),
           (v.value ->> 'created_at')::timestamptz
    from jsonb_array_elements(p_sealed) v;
    update linked_rows r set key = array[v.value ->> 'service', v.value ->> 'account_name']
    from jsonb_array_elements(p_sealed) v, links l
    where r.tenant_id = p_kept and r.of = 'credentials' and l.tenant_id = p_kept and l.other_id = p_gone
      and (r.link_id = l.id or r.link_id in (select o.key[1] from linked_rows o where o.tenant_id = p_kept
                                             and o.link_id = l.id and o.of = 'links'))
      and r.key = array[v.value ->> 'service', coalesce(v.value ->> 'was', v.value ->> 'account_name')];
    delete from credentials c where c.tenant_id = p_gone;
    delete from data_keys d where d.tenant_id = p_gone;
    update tenants k
    set name = coalesce(nullif(k.name, ''), g.name), language = coalesce(nullif(k.language, ''), g.language),
        timezone = coalesce(nullif(k.timezone, ''), g.timezone),
        preferred_channel = coalesce(nullif(k.preferred_channel, ''), g.preferred_channel),
        quiet_from = case when k.quiet_from = '' then g.quiet_from else k.quiet_from end,
        quiet_until = case when k.quiet_from = '' then g.quiet_until else k.quiet_until end,
        while_running = case when k.while_running = 'steer' then g.while_running else k.while_running end,
        -- No place may do more by a link than it might before: the lower role counts, with its tier.
        tier = case when rank_of(g.role) < rank_of(k.role) then g.tier
                    when rank_of(g.role) = rank_of(k.role) then coalesce(nullif(k.tier, ''), g.tier) else k.tier end,
        role = case when rank_of(g.role) < rank_of(k.role) then g.role else k.role end
    from tenants g where k.tenant_id = p_kept and g.tenant_id = p_gone;
    insert into person_audit (tenant_id, what, channel, account, identity_id, other, turn_id)
    select p_kept, 'merged', i.channel, i.account, i.id, p_gone, p_turn from turns t
    join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    where t.tenant_id = p_kept and t.id = p_turn;
    -- Whatever is left would go with its person, unseen: there must be nothing.
    set constraints all immediate;
    for v_rule in select r.key as of from jsonb_each_text(p_rules) r
                  where r.key <> 'tenants' and exists (
                      select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relname = r.key)
    loop
        execute format('select count(*) from %I where tenant_id = $1', v_rule.of) into v_count using p_gone;
        if v_count > 0 then
            raise exception 'rows of % were left behind', v_rule.of;
        end if;
    end loop;
    delete from tenants t where t.tenant_id = p_gone;
    return next;
end $$;

-- As in 0025; and a link can be taken back for a day only.
create or replace function drop_link_codes(p_now timestamptz)
returns table (codes bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_code record;
begin
    codes := 0;
    for v_code in
        select k.tenant_id, k.turn_id, k.code_hash from link_codes k
        where not k.scrubbed and (k.used_at is not null or k.expires_at <= p_now)
          and not exists (select from outbound o where o.tenant_id = k.tenant_id and o.turn_id = k.turn_id
                          and o.state in ('held', 'ready', 'sending', 'checking'))
        order by k.code_hash for update skip locked
    loop
        update outbound_parts e set text = '(This code has done its work.)', data = '{}' from outbound o
        where o.tenant_id = v_code.tenant_id and o.turn_id = v_code.turn_id
          and e.tenant_id = o.tenant_id and e.outbound_id = o.id;
        update outbound o set text = '(This code has done its work.)'
        where o.tenant_id = v_code.tenant_id and o.turn_id = v_code.turn_id;
        update link_codes k set scrubbed = true
        where k.tenant_id = v_code.tenant_id and k.code_hash = v_code.code_hash;
        codes := codes + 1;
    end loop;
    delete from links l where l.made_at < p_now - interval '1 day';
    delete from link_codes k where k.scrubbed and k.made_at < p_now - interval '2 days';
    return next;
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('note_link', 'note_link_of_stranger')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
