-- Splitting one person into two again: an identity that becomes a person of its own, or a link that is undone.

-- Makes the identity of a turn a new person, who has nothing. Its earlier messages stay with the old person, under an
-- identity that nobody has any more. `unlinked` with the new conversation, to which the answer goes; false if there
-- is nobody to be unlinked from.
create function unlink_identity(
    p_tenant text, p_turn text, p_new_tenant text, p_new_identity text, p_new_conversation text,
    p_outbound text, p_text text)
returns table (unlinked boolean, conversation_id text)
language plpgsql as $$
declare
    v_me identities%rowtype;
    v_from conversations%rowtype;
    v_old tenants%rowtype;
    v_conversation text;
begin
    -- 1. Lock the person and the conversations of the place.
    p_new_tenant := in_partition(p_new_tenant);
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_person(p_tenant, true);
    select c.* into v_from from turns t join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    where t.tenant_id = p_tenant and t.id = p_turn;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.identity_id = v_from.identity_id
    order by c.id for update;
    -- 2. Refuse the last place, and do nothing twice.
    select i.* into v_me from identities i where i.tenant_id = p_tenant and i.id = v_from.identity_id;
    if v_me.state_reason = 'unlinked' then  -- this turn did it before, and its worker died
        return query select true, null::text;
        return;
    end if;
    if (select count(*) from identities i
        where i.tenant_id = p_tenant and i.state_reason <> 'unlinked' and i.channel <> 'mcp') < 2 then
        return query select false, null::text;
        return;
    end if;
    -- 3. End what waits there, and give its address free.
    select * into v_old from tenants t where t.tenant_id = p_tenant;
    perform close_questions(p_tenant, c.id) from conversations c
    where c.tenant_id = p_tenant and c.identity_id = v_me.id;
    update inbound i set state = 'ignored', reason = 'unlinked' from conversations c
    where i.tenant_id = p_tenant and c.tenant_id = p_tenant and c.id = i.conversation_id and c.identity_id = v_me.id
      and i.state = 'waiting';
    update outbound o set state = 'failed', reason = 'this place was unlinked' from conversations c
    where o.tenant_id = p_tenant and c.tenant_id = p_tenant and c.id = o.conversation_id and c.identity_id = v_me.id
      and o.state = 'ready' and (o.owner is null or o.lease_until < clock_timestamp());
    update conversations c set peer = 'unlinked ' || c.id where c.tenant_id = p_tenant and c.identity_id = v_me.id;
    update identities i
    set user_key = 'unlinked ' || v_me.id, state = 'blocked', state_reason = 'unlinked', state_at = clock_timestamp()
    where i.tenant_id = p_tenant and i.id = v_me.id;
    insert into person_audit (tenant_id, what, channel, account, identity_id, other, turn_id)
    values (p_tenant, 'unlinked', v_me.channel, v_me.account, v_me.id, p_new_tenant, p_turn);
    -- 4. A message that its provider hands over once more comes to the new person, whose it is not.
    insert into ignored_messages (channel, account, key, reason)
    select k.channel, k.account, k.key, 'unlinked' from conversations c
    join inbound i on i.tenant_id = c.tenant_id and i.conversation_id = c.id
        and i.received_at > clock_timestamp() - interval '30 days'
    join inbox_keys k on k.tenant_id = i.tenant_id and k.inbound_id = i.id
    where c.tenant_id = p_tenant and c.identity_id = v_me.id
    order by k.key on conflict (channel, account, key) do nothing;
    -- 5. Make the new person. Starting again grants no more rights than before, and never those of the operator.
    perform set_config('onevalet.tenant', p_new_tenant, true);
    insert into tenants (tenant_id, name, timezone, language, language_from, role, tier)
    values (p_new_tenant, v_me.name, v_me.timezone, v_old.language,
            case when v_old.language = '' then '' else v_me.channel end,
            case when v_old.role = 'owner' then 'member' else v_old.role end,
            case when v_old.role = 'owner' then '' else v_old.tier end);
    insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted)
    values (p_new_tenant, p_new_identity, v_me.channel, v_me.account, v_me.user_key, v_me.name, v_me.timezone,
            v_me.admitted);
    insert into person_audit (tenant_id, what, channel, account, identity_id, other)
    values (p_new_tenant, 'unlinked', v_me.channel, v_me.account, p_new_identity, p_tenant);
    -- What abilities limit for the person is limited for the new person by their sql/start_again.sql.
    -- 6. Greet them.
    v_conversation := open_conversation(
        p_new_tenant, p_new_identity, v_me.channel, v_me.account, v_from.peer, v_from.thread, p_new_conversation);
    perform enqueue(p_new_tenant, v_conversation, null,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', p_text)));
    return query select true, v_conversation;
end $$;

-- Returns the newest link of a person that can still be undone, and whether the place of this turn came by it.
create function find_link(p_tenant text, p_turn text, p_since timestamptz)
returns table (link_id text, other_id text, moves boolean)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform lock_person(p_tenant, true);
    if exists (select from person_audit a
               where a.tenant_id = p_tenant and a.turn_id = p_turn and a.what = 'unlinked') then
        return query select null::text, null::text, false;  -- this turn did it before, and its worker died
        return;
    end if;
    return query select l.id, l.other_id, exists (
        select from linked_rows r join conversations c on c.tenant_id = r.tenant_id and c.identity_id = r.key[1]
        join turns t on t.tenant_id = c.tenant_id and t.conversation_id = c.id
        where r.tenant_id = p_tenant and r.link_id = l.id and r.of = 'identities' and t.id = p_turn)
    from links l where l.tenant_id = p_tenant and l.made_at > p_since
    order by l.made_at desc, l.linked_at desc limit 1;
end $$;

-- Rows stored since the link without a mark of their place belong to the person with the higher role before the link
-- or, with equal roles, to the one who was known first; if that is the other person, they are recorded as theirs.
create function claim_since(p_tenant text, p_link links)
returns void
language plpgsql as $$
declare
    v_ours int := rank_of(p_link.before ->> 'role');
    v_theirs int := rank_of(p_link.other ->> 'role');
begin
    if v_theirs < v_ours or v_theirs = v_ours
       and (p_link.other ->> 'created_at')::timestamptz >= (p_link.before ->> 'created_at')::timestamptz then
        return;
    end if;
    insert into linked_rows (tenant_id, link_id, of, key, number, name)
    select p_tenant, p_link.id, n.of, n.key, coalesce((
               select max(r.number) from linked_rows r where r.tenant_id = p_tenant and r.link_id = p_link.id
               and r.of = n.of and (n.of <> 'stored_values' or r.key[1] = n.key[1])), 0)
           + row_number() over (
               partition by n.of, case when n.of = 'stored_values' then n.key[1] end order by n.number),
           coalesce(n.key[2], '')
    from (
        select 'stored_values' as of, array[v.collection, v.key] as key, v.number
        from stored_values v where v.tenant_id = p_tenant and v.created_at > p_link.linked_at
        union all select 'profile_facts', array[f.id], f.number
        from profile_facts f where f.tenant_id = p_tenant and f.since > p_link.made_at and f.turn_id = ''
        -- Such rows of abilities come from their sql/since_link.sql.
        ) n
    where not exists (select from linked_rows r where r.tenant_id = p_tenant and r.of = n.of and r.key = n.key);
end $$;

-- Makes the other person of a link a person again, as before it; their rows follow by move_apart.
create function begin_parting(p_tenant text, p_link text)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_link links%rowtype;
begin
    select * into v_link from links l where l.tenant_id = p_tenant and l.id = p_link for update;
    if v_link.id is null then
        raise exception 'no such link';
    end if;
    perform 1 from conversations c where c.tenant_id = p_tenant order by c.id for no key update;
    perform 1 from lanes l where l.tenant_id = p_tenant order by l.id for no key update;
    insert into tenants select (jsonb_populate_record(null::tenants, v_link.other)).*;
    -- Rows stored since the link without a mark of their place: nobody can say whose they are.
    delete from credentials c where c.tenant_id = p_tenant and c.created_at > v_link.linked_at
      and not exists (select from linked_rows r where r.tenant_id = p_tenant and r.of = 'credentials'
                      and r.key = array[c.service, c.account_name]);
    perform claim_since(p_tenant, v_link);
    -- What was made since v_link and acts by itself is paused by their sql/begin_parting.sql.
end $$;

-- Gives each of the two people their own rows again. p_rules has for each table, in order, parents first, the columns
-- that name the row's parents: [[table, [[column, parent, column of the parent], ...]], ...]; a row moves if it is
-- recorded in the link, or with any such parent. p_sealed: credentials, sealed again. Messages since the link move with
-- their place.
create function move_apart(p_tenant text, p_link text, p_turn text, p_rules jsonb, p_sealed jsonb)
returns table (rows_moved bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_link links%rowtype;
    v_rule jsonb;
    v_table text;
    v_by text;
    v_key text;
    v_count bigint;
begin
    rows_moved := 0;
    -- 1. Require that this transaction began the parting.
    select * into v_link from links l where l.tenant_id = p_tenant and l.id = p_link for update;
    if v_link.id is null or not exists (select from tenants g where g.tenant_id = v_link.other_id
                                        and g.xmin = pg_current_xact_id()::xid) then
        raise exception 'no parting was begun';
    end if;
    -- 2. Move the rows of each table that came with the other person, or belong to such a row.
    set constraints all deferred;
    for v_rule in select value from jsonb_array_elements(p_rules) loop
        v_table := v_rule ->> 0;
        select string_agg(format('k.%I', a.attname), ', ' order by x.place) into v_key
        from pg_index i cross join unnest(i.indkey) with ordinality x(att, place)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = x.att
        where i.indrelid = v_table::regclass and i.indisprimary and a.attname <> 'tenant_id';
        select string_agg(format('exists (select from %I p where p.tenant_id = $2 and p.%I = k.%I)',
                                 b.value ->> 1, b.value ->> 2, b.value ->> 0), ' or ') into v_by
        from jsonb_array_elements(v_rule -> 1) b;
        execute format('update %I k set tenant_id = $2 where k.tenant_id = $1 and (%s or exists ('
                       'select from linked_rows r where r.tenant_id = $1 and r.link_id = $3 and r.of = %L'
                       ' and not r.copied and r.key = array[%s]::text[]))',
                       v_table, coalesce(v_by, 'false'), v_table, v_key) using p_tenant, v_link.other_id, p_link;
        get diagnostics v_count = row_count;
        rows_moved := rows_moved + v_count;
    end loop;
    -- 3. Part what is in rows of both: stored values, files, numbers, and credentials under the other's key.
    perform part_values(p_tenant, v_link.other_id, p_link);
    perform part_files(p_tenant, v_link.other_id);
    perform part_numbers(p_tenant, v_link.other_id, p_link);
    insert into credentials (tenant_id, service, account_name, key_version, credentials_json, preferred, preferred_for,
                             revoked_at, attend_at, created_at)
    select v_link.other_id, v.value ->> 'service', v.value ->> 'account_name', (v.value ->> 'key_version')::int,
           decode(v.value ->> 'sealed', 'base64'), (v.value ->> 'preferred')::boolean,
           array(select jsonb_array_elements_text(v.value -> 'preferred_for')), (v.value ->> 'revoked_at')::timestamptz,
           (v.value ->> 'attend_at')::timestamptz,
           (v.value ->> 'created_at')::timestamptz
    from jsonb_array_elements(p_sealed) v;
    delete from credentials c using jsonb_array_elements(p_sealed) v
    where c.tenant_id = p_tenant and c.service = v.value ->> 'service' and c.account_name = v.value ->> 'was';
    -- 4. Nobody gains a day's money by it.
    insert into spending (tenant_id, day, task_id, spent)
    select v_link.other_id, s.day, s.task_id, s.spent from spending s where s.tenant_id = p_tenant and s.task_id = '';
    -- 5. Part the places, and cut what leads from one person to the other.
    perform part_places(p_tenant, v_link.other_id, p_turn);
    perform cut_across(p_tenant, v_link.other_id);
    -- 6. Take back from the person who stays what the link gave them.
    update tenants k
    set role = case when k.role = case when rank_of(v_link.other ->> 'role') < rank_of(v_link.before ->> 'role')
                                       then v_link.other ->> 'role' else v_link.before ->> 'role' end
                    then v_link.before ->> 'role' else k.role end,
        tier = v_link.before ->> 'tier',
        name = case when v_link.before ->> 'name' = '' and k.name = v_link.other ->> 'name' then '' else k.name end,
        timezone = case when v_link.before ->> 'timezone' = '' and k.timezone = v_link.other ->> 'timezone'
                        then '' else k.timezone end,
        language = case when v_link.before ->> 'language' = '' and k.language = v_link.other ->> 'language'
                        then '' else k.language end,
        language_from = case when v_link.before ->> 'language' = '' and k.language = v_link.other ->> 'language'
                             then '' else k.language_from end,
        muted = array(select m from unnest(k.muted) m where v_link.before -> 'muted' ? m
                      or not v_link.other -> 'muted' ? m)
    where k.tenant_id = p_tenant;
    -- 7. Record it, and check that all rows found their person.
    insert into person_audit (tenant_id, what, other, turn_id)
    values (p_tenant, 'unlinked', v_link.other_id, p_turn), (v_link.other_id, 'unlinked', p_tenant, '');
    delete from links l where l.tenant_id = p_tenant and l.id = p_link;
    set constraints all immediate;
    return next;
end $$;

-- Moves the other person's values back under their own keys and numbers; where both had the same, both have it again.
create function part_values(p_tenant text, p_other text, p_link text)
returns void
language plpgsql as $$
declare
    v_row record;
begin
    insert into stored_collections (tenant_id, name, last_number)
    select p_other, r.key[1], max(r.number) from linked_rows r
    where r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'stored_values' group by r.key[1];
    for v_row in
        select r.*, v.value, v.created_at from linked_rows r
        join stored_values v on v.tenant_id = p_tenant and v.collection = r.key[1] and v.key = r.key[2]
        where r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'stored_values'
    loop
        insert into stored_values
        values (p_other, v_row.key[1], v_row.name, v_row.number, v_row.value, v_row.created_at);
        if not v_row.copied then
            delete from stored_values v
            where v.tenant_id = p_tenant and v.collection = v_row.key[1] and v.key = v_row.key[2];
        end if;
    end loop;
end $$;

-- A file that both sent is both's: the one row went with the other person's messages, and the first gets one of theirs
-- again, for the same bytes.
create function part_files(p_tenant text, p_other text)
returns void
language plpgsql as $$
begin
    insert into files
    select (jsonb_populate_record(f, jsonb_build_object('tenant_id', p_tenant))).*
    from files f where f.tenant_id = p_other and exists (
        select from inbound_files n where n.tenant_id = p_tenant and n.file_id = f.id)
    on conflict do nothing;
end $$;

-- Numbers and names have been told to people: each person gets their own back. Facts and memories that replaced the
-- other person's no longer do. What was learnt at the other's places since the link is forgotten by both, and so is
-- what the assistant said at this one's: it may be about the other.
create function part_numbers(p_tenant text, p_other text, p_link text)
returns void
language plpgsql as $$
declare
    v_table text;
begin
    for v_table in
        select distinct r.of from linked_rows r
        where r.tenant_id = p_tenant and r.link_id = p_link and r.number is not null and r.of <> 'stored_values'
        order by r.of
    loop
        execute format('update %I k set number = -k.number - 1 where k.tenant_id = $1', v_table) using p_other;
        execute format('update %I k set number = r.number from linked_rows r where k.tenant_id = $2'
                       ' and r.tenant_id = $1 and r.link_id = $3 and r.of = %L and r.key = array[k.id]',
                       v_table, v_table) using p_tenant, p_other, p_link;
    end loop;
    update identities i set admitted = r.name from linked_rows r
    where i.tenant_id = p_other and r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'identities'
      and r.key = array[i.id];
    delete from profile_facts f where f.tenant_id = p_tenant and f.turn_id in (
        select t.id from turns t where t.tenant_id = p_other);
    update profile_facts f set replaced_by = null
    where f.tenant_id in (p_tenant, p_other) and f.replaced_by is not null and not exists (
        select from profile_facts n where n.tenant_id = f.tenant_id and n.id = f.replaced_by);
    -- Rows of abilities are parted by their sql/part.sql.
end $$;

-- Each place continues by itself: messages that were ready are not sent, the other person's open questions are dropped,
-- and what was said while they were linked is hidden from the model. The turn that did this, if it is theirs, is over.
create function part_places(p_tenant text, p_other text, p_turn text)
returns void
language plpgsql as $$
begin
    update outbound o set state = 'failed', reason = 'this place was unlinked', owner = null, lease_until = null
    where o.tenant_id in (p_tenant, p_other) and o.state = 'ready' and o.kind <> 'receipt';
    delete from outbound o where o.tenant_id = p_other and o.state = 'held';
    update turns t set state = 'done', reason = 'unlinked', finished_at = clock_timestamp()
    where t.tenant_id = p_other and t.id = p_turn and t.state = 'running';
    update inbound i set state = 'done', reason = 'unlinked'
    where i.tenant_id = p_other and i.turn_id = p_turn and i.state = 'taken';
    update lanes l set owner = null, lease_until = null, fence = l.fence + 1, pending = exists (
        select from turns t where t.tenant_id = p_other and t.lane_id = l.id and (t.state = 'running' or t.ready))
        or exists (select from inbound i where i.tenant_id = p_other and i.conversation_id = l.conversation_id
                   and i.state = 'waiting'), pending_since = coalesce(l.pending_since, clock_timestamp())
    where l.tenant_id = p_other;
    perform close_questions(p_other, c.id) from conversations c where c.tenant_id = p_other;
    update conversations c set session = c.session + 1 where c.tenant_id in (p_tenant, p_other);
end $$;

-- No row of one person may name a row of the other: the reference is emptied, or the row deleted if it cannot be.
create function cut_across(p_tenant text, p_other text)
returns void
language plpgsql as $$
declare
    v_key record;
    v_across text;
begin
    for v_key in
        select k.conrelid::regclass as of, k.confrelid::regclass as parent,
               string_agg(format('p.%I = c.%I', b.attname, a.attname), ' and ') as same,
               string_agg(format('c.%I is not null', a.attname), ' and ') as named,
               string_agg(quote_ident(a.attname), ', ') filter (where not a.attnotnull) as empties
        from pg_constraint k cross join unnest(k.conkey, k.confkey) x(mine, theirs)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = x.mine
        join pg_attribute b on b.attrelid = k.confrelid and b.attnum = x.theirs
        where k.contype = 'f' and k.connamespace = 'public'::regnamespace and array_length(k.conkey, 1) > 1
        group by k.oid, k.conrelid, k.confrelid
    loop
        v_across := format('c.tenant_id in ($1, $2) and %s and not exists (select from %s p where %s)',
                           v_key.named, v_key.parent, v_key.same);
        -- A conversation is with somebody.
        if v_key.empties is null or v_key.of = 'conversations'::regclass then
            execute format('delete from %s c where %s', v_key.of, v_across) using p_tenant, p_other;
        else
            execute format('update %s c set (%s) = row(%s) where %s', v_key.of, v_key.empties,
                           regexp_replace(v_key.empties, '[^, ]+', 'null', 'g'), v_across) using p_tenant, p_other;
        end if;
    end loop;
end $$;
