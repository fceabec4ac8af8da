-- Merging two people into one: codes, consent to a link, and the merge.

-- Stores a code for the person of a turn, replacing an earlier one; false after too many within a day.
create function keep_link_code(
    p_tenant text, p_turn text, p_code_hash bytea, p_now timestamptz, p_expires timestamptz, p_limit int)
returns boolean
language plpgsql as $$
declare
    v_identity identities%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select i.* into v_identity from turns t
    join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    where t.tenant_id = p_tenant and t.id = p_turn;
    if (select count(*) from link_codes k where k.tenant_id = p_tenant and k.turn_id <> p_turn
        and k.made_at > p_now - interval '1 day') >= p_limit then
        return false;
    end if;
    update link_codes k set expires_at = least(k.expires_at, p_now)
    where k.tenant_id = p_tenant and k.used_at is null;
    insert into link_codes (tenant_id, code_hash, identity_id, turn_id, made_at, expires_at)
    values (p_tenant, p_code_hash, v_identity.id, p_turn, p_now, p_expires);
    insert into person_audit (tenant_id, what, channel, account, identity_id, turn_id)
    values (p_tenant, 'code', v_identity.channel, v_identity.account, v_identity.id, p_turn);
    return true;
end $$;

-- Returns the tenant that a code was given to; ids only.
create function find_link_code(p_code_hash bytea)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select k.tenant_id from link_codes k where k.code_hash = p_code_hash
$$;

-- Checks a code that somebody typed. Wrong ones count against their own address only: with more than 44 bits and ten
-- minutes nobody guesses one, from however many addresses. Locks the person who was given the code before checking it.
-- 'good', 'wrong', 'used', 'expired', 'limited'; asked: whether this address was asked about it before, by another
-- message than p_by.
create function try_link_code(
    p_code_hash bytea, p_scope text, p_channel text, p_account text, p_user_key text, p_by text, p_now timestamptz,
    p_limit_of_sender int, p_window interval)
returns table (outcome text, tenant_id text, identity_id text, used_by text, asked boolean)
language plpgsql as $$
declare
    v_sender text := p_scope || chr(31) || p_channel || chr(31) || p_account || chr(31) || p_user_key;
    v_tenant text;
    v_code link_codes%rowtype;
    v_outcome text;
begin
    if next_guess(v_sender, p_limit_of_sender, p_window, p_now) is not null then
        return query select 'limited', '', '', '', false;
        return;
    end if;
    select f.tenant_id into v_tenant from find_link_code(p_code_hash) f;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    select * into v_code from link_codes k where k.tenant_id = v_tenant and k.code_hash = p_code_hash for update;
    v_outcome := case when v_code.code_hash is null then 'wrong'
                      when v_code.used_at is not null then 'used'
                      when v_code.expires_at <= p_now then 'expired' else 'good' end;
    if v_outcome in ('wrong', 'used', 'expired') and v_code.used_by is distinct from p_by then
        perform add_guess(v_sender, p_now);
    end if;
    return query select v_outcome, coalesce(v_tenant, ''), coalesce(v_code.identity_id, ''),
        coalesce(v_code.used_by, ''), coalesce(
            (v_code.asked_channel, v_code.asked_account, v_code.asked_user_key) = (p_channel, p_account, p_user_key)
            and v_code.asked_by <> p_by, false);
end $$;

-- Counts the rows of each of two people in these tables: {table: [gone, kept]}, without tables in which neither has
-- any.
create function count_belongings(p_kept text, p_gone text, p_tables text[])
returns table (counts jsonb)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_table text;
    v_gone bigint;
    v_kept bigint;
begin
    counts := '{}';
    foreach v_table in array p_tables loop
        -- Commands say nothing about their person, nor do the plans of calls, which are kept for their repeats.
        execute format('select count(*) filter (where tenant_id = $1), count(*) filter (where tenant_id = $2) from %I'
                       ' where tenant_id in ($1, $2) %s', v_table,
                       case v_table when 'inbound' then 'and command is null and text || heard <> '''''
                                    when 'stored_values' then 'and right(collection, 6) <> ''_calls'''
                                    else '' end)
        into v_gone, v_kept using p_gone, p_kept;
        if v_gone + v_kept > 0 then
            counts := counts || jsonb_build_object(v_table, jsonb_build_array(v_gone, v_kept));
        end if;
    end loop;
    return next;
end $$;

-- The first half of a link, by the turn in which its code was typed: as begin_link_by.
create function begin_link(
    p_kept text, p_turn text, p_code_hash bytea, p_agreed boolean, p_tables text[], p_now timestamptz,
    p_limit_of_sender int, p_window interval)
returns table (outcome text, gone_id text, identity_id text, counts jsonb)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_me identities%rowtype;
begin
    select i.* into v_me from turns t
    join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    where t.tenant_id = p_kept and t.id = p_turn and t.state = 'running';
    if v_me.id is null then
        raise exception 'turn over' using errcode = 'OV001';
    end if;
    return query select * from begin_link_by(
        p_kept, jsonb_build_object('channel', v_me.channel, 'account', v_me.account, 'user_key', v_me.user_key,
                                   'by', p_turn),
        p_code_hash, p_agreed, p_tables, p_now, p_limit_of_sender, p_window);
end $$;

-- The first half of a link by a form of the console, p_key: the person's console is one more place, where only a
-- question that was asked there is answered.
create function begin_link_in_console(
    p_kept text, p_key text, p_code_hash bytea, p_agreed boolean, p_tables text[], p_now timestamptz,
    p_limit_of_sender int, p_window interval)
returns table (outcome text, gone_id text, identity_id text, counts jsonb)
language sql security definer set search_path = public, pg_temp as $$
    select * from begin_link_by(
        p_kept, jsonb_build_object('channel', 'console', 'account', '', 'user_key', p_kept, 'by', p_key),
        p_code_hash, p_agreed, p_tables, p_now, p_limit_of_sender, p_window)
$$;

-- p_typer: the address that typed the code, and the turn or the form by which it did. 'linked' with the person to be
-- merged into this one, who stays locked until the commit; 'ask', with the person and the identity that were given the
-- code, until the typer agrees in a message after the question, whatever the two own; 'linked' with nobody if this turn
-- has done it before; 'same' for one's own code; 'busy' while the other person is being answered; otherwise as
-- try_link_code.
create function begin_link_by(
    p_kept text, p_typer jsonb, p_code_hash bytea, p_agreed boolean, p_tables text[], p_now timestamptz,
    p_limit_of_sender int, p_window interval)
returns table (outcome text, gone_id text, identity_id text, counts jsonb)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_channel text := p_typer ->> 'channel';
    v_account text := p_typer ->> 'account';
    v_user_key text := p_typer ->> 'user_key';
    v_by text := p_typer ->> 'by';
    v_code record;
    v_gone text;
    v_counts jsonb;
begin
    select k.tenant_id into v_gone from link_codes k where k.code_hash = p_code_hash;
    -- In one order, whoever asks: two people who type each other's codes at once do not deadlock.
    perform lock_person(least(p_kept, coalesce(v_gone, p_kept)), true);
    perform lock_person(greatest(p_kept, coalesce(v_gone, p_kept)), true);
    select * into v_code from try_link_code(
        p_code_hash, 'link', v_channel, v_account, v_user_key, v_by, p_now, p_limit_of_sender, p_window);
    if v_code.outcome = 'used' and v_code.used_by = v_by then
        return query select 'linked', '', '', '{}'::jsonb;
        return;
    elsif v_code.outcome = 'good' and v_code.tenant_id = p_kept then
        return query select 'same', '', '', '{}'::jsonb;
        return;
    elsif v_code.outcome <> 'good' then
        return query select v_code.outcome, '', '', '{}'::jsonb;
        return;
    end if;
    v_gone := v_code.tenant_id;
    select b.counts into v_counts from count_belongings(p_kept, v_gone, p_tables) b;
    if not (p_agreed and v_code.asked) then
        perform note_link_asked(v_gone, p_code_hash, v_channel, v_account, v_user_key, v_by);
        return query select 'ask', v_gone, v_code.identity_id, v_counts;
        return;
    end if;
    perform 1 from conversations c where c.tenant_id = v_gone order by c.id for no key update;
    perform 1 from lanes l where l.tenant_id = v_gone order by l.id for no key update;
    perform 1 from outbound o where o.tenant_id = v_gone and o.state in ('ready', 'sending', 'checking')
    order by o.id for no key update;
    if exists (select from lanes l where l.tenant_id = v_gone and l.owner is not null
               and l.lease_until > clock_timestamp())
       or exists (select from outbound o where o.tenant_id = v_gone and o.owner is not null
                  and o.lease_until > clock_timestamp()) then
        return query select 'busy', '', '', '{}'::jsonb;
        return;
    end if;
    -- What of v_gone may not change meanwhile is locked by their sql/begin_link.sql.
    perform 1 from data_keys d where d.tenant_id in (p_kept, v_gone) order by d.tenant_id, d.version for update;
    perform 1 from credentials c where c.tenant_id = v_gone order by c.service, c.account_name for update;
    update link_codes k set used_at = p_now, used_by = v_by where k.code_hash = p_code_hash;
    return query select 'linked', v_gone, v_code.identity_id, v_counts;
end $$;

-- Moves one person's stored values to another. Under a key that both have, the kept person's value stays and the other
-- is stored under a new key, unless they are equal. Numbers that both were told come to mean the kept person's. A
-- link's record follows a value to its new key.
create function merge_values(p_kept text, p_gone text)
returns void
language plpgsql as $$
declare
    v_value record;
    -- This link, which does not exist yet, and those that the person who goes has brought along.
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

-- The second half of a link: all that belongs to one person becomes the other's, and the one is deleted. p_rules names
-- the rule of every table, {table: move | first | number | add | values | sealed | person | drop}: move: every row;
-- first: those whose key the kept person does not have; number: every row, numbered after the kept person's; sealed:
-- replaced by p_sealed, sealed for the kept person. The lower of the two roles counts. A link's record follows a
-- credential to its new name. Only for the pair that begin_link let through in this transaction.
create function merge_people(
    p_kept text, p_gone text, p_turn text, p_code_hash bytea, p_rules jsonb, p_sealed jsonb)
returns table (rows_moved bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_rule record;
    v_key text;
    v_count bigint;
begin
    rows_moved := 0;
    -- 1. Require that this transaction began the link.
    if not exists (select from link_codes k where k.tenant_id = p_gone and k.code_hash = p_code_hash
                   and k.used_by = p_turn and k.xmin = pg_current_xact_id()::xid) then
        raise exception 'no link was begun';
    end if;
    -- 2. Move the rows of each table by its rule.
    set constraints all deferred;
    -- What has no rule belongs to an ability that is here no more, and goes where it cannot be in the way.
    for v_rule in
        select c.relname::text as of, coalesce(p_rules ->> c.relname::text, 'first') as how
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attname = 'tenant_id'
          and not a.attisdropped
        order by p_rules ->> c.relname::text is not distinct from 'values', c.relname::text collate "default"
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
    -- 3. Add up what both have: stored values, spending, usage.
    perform merge_values(p_kept, p_gone);
    insert into spending as s (tenant_id, day, task_id, spent)
    select p_kept, g.day, g.task_id, g.spent from spending g where g.tenant_id = p_gone
    on conflict (tenant_id, day, task_id) do update set spent = s.spent + excluded.spent;
    delete from spending g where g.tenant_id = p_gone;
    insert into usage_days as u (tenant_id, day, task_id, kind, name, calls, failed, input_tokens, output_tokens,
                                 cached_tokens, cost, took_ms)
    select p_kept, g.day, g.task_id, g.kind, g.name, g.calls, g.failed, g.input_tokens, g.output_tokens, g.cached_tokens,
           g.cost, g.took_ms
    from usage_days g where g.tenant_id = p_gone
    on conflict (tenant_id, day, task_id, kind, name) do update
    set calls = u.calls + excluded.calls, failed = u.failed + excluded.failed,
        input_tokens = u.input_tokens + excluded.input_tokens, output_tokens = u.output_tokens + excluded.output_tokens,
        cached_tokens = u.cached_tokens + excluded.cached_tokens, cost = u.cost + excluded.cost,
        took_ms = u.took_ms + excluded.took_ms;
    delete from usage_days g where g.tenant_id = p_gone;
    -- 4. Store the credentials, which were sealed under the key of the person who stays.
    insert into credentials (tenant_id, service, account_name, key_version, credentials_json, preferred, preferred_for,
                             revoked_at, attend_at, created_at)
    select p_kept, v.value ->> 'service', v.value ->> 'account_name', (v.value ->> 'key_version')::int,
           decode(v.value ->> 'sealed', 'base64'),
           (v.value ->> 'preferred')::boolean and not exists (
               select from credentials c
               where c.tenant_id = p_kept and c.service = v.value ->> 'service' and c.preferred),
           array(select k from jsonb_array_elements_text(v.value -> 'preferred_for') k
                 where not exists (select from credentials c where c.tenant_id = p_kept and k = any (c.preferred_for))),
           (v.value ->> 'revoked_at')::timestamptz,
           (v.value ->> 'attend_at')::timestamptz,
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
    -- 5. Make one person's settings of two.
    update tenants k
    set name = coalesce(nullif(k.name, ''), g.name),
        -- What one of both chose comes before what was found.
        language = case when k.language = '' or k.language_from <> '' and g.language_from = '' and g.language <> ''
                        then g.language else k.language end,
        language_from = case when k.language = '' or k.language_from <> '' and g.language_from = ''
                                  and g.language <> '' then g.language_from else k.language_from end,
        timezone = coalesce(nullif(k.timezone, ''), g.timezone),
        preferred_channel = coalesce(nullif(k.preferred_channel, ''), g.preferred_channel),
        quiet_from = case when k.quiet_from = '' then g.quiet_from else k.quiet_from end,
        quiet_until = case when k.quiet_from = '' then g.quiet_until else k.quiet_until end,
        while_running = case when k.while_running = 'steer' then g.while_running else k.while_running end,
        -- No place gains rights by a link: the lower role counts, with its tier.
        tier = case when rank_of(g.role) < rank_of(k.role) then g.tier
                    when rank_of(g.role) = rank_of(k.role) then coalesce(nullif(k.tier, ''), g.tier) else k.tier end,
        role = case when rank_of(g.role) < rank_of(k.role) then g.role else k.role end
    from tenants g where k.tenant_id = p_kept and g.tenant_id = p_gone;
    -- 6. Record it.
    insert into person_audit (tenant_id, what, channel, account, identity_id, other, turn_id)
    select p_kept, 'merged', i.channel, i.account, i.id, p_gone, p_turn from turns t
    join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    where t.tenant_id = p_kept and t.id = p_turn;
    if not found then
        insert into person_audit (tenant_id, what, channel, other) values (p_kept, 'merged', 'console', p_gone);
    end if;
    -- 7. Any row that is left would be deleted silently with its person: there must be none.
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

create function rank_of(p_role text)
returns int
language sql immutable as $$
    select case p_role when 'owner' then 3 when 'member' then 2 else 1 end
$$;

-- Erases used codes from stored messages: none is kept in clear. Deletes old codes, and links older than a day, which
-- can no longer be undone.
create function drop_link_codes(p_now timestamptz)
returns table (codes bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_code record;
begin
    codes := 0;
    -- A deletion takes the same messages in another order.
    perform lock_person(k.tenant_id, false) from (
        select distinct k.tenant_id from link_codes k
        where not k.scrubbed and (k.used_at is not null or k.expires_at <= p_now) order by k.tenant_id) k;
    for v_code in
        select k.tenant_id, k.turn_id, k.code_hash from link_codes k
        where not k.scrubbed and (k.used_at is not null or k.expires_at <= p_now)
          and not exists (select from outbound o where o.tenant_id = k.tenant_id and o.turn_id = k.turn_id
                          and o.state in ('held', 'ready', 'sending', 'checking'))
        order by k.code_hash
    loop
        update outbound o set text = '(This code has done its work.)'
        where o.tenant_id = v_code.tenant_id and o.turn_id = v_code.turn_id;
        update outbound_parts e set text = '(This code has done its work.)', data = '{}' from outbound o
        where o.tenant_id = v_code.tenant_id and o.turn_id = v_code.turn_id
          and e.tenant_id = o.tenant_id and e.outbound_id = o.id;
        -- Only now: who deletes or links the person locks the messages first.
        update link_codes k set scrubbed = true
        where k.tenant_id = v_code.tenant_id and k.code_hash = v_code.code_hash and not k.scrubbed;
        codes := codes + found::int;
    end loop;
    delete from linked_rows r using links l
    where l.made_at < p_now - interval '1 day' and r.tenant_id = l.tenant_id and r.link_id = l.id;
    delete from links l where l.made_at < p_now - interval '1 day';
    delete from link_codes k where k.scrubbed and k.made_at < p_now - interval '2 days';
    return next;
end $$;

-- Lists the questions about a link that a person was asked in a chat and has not answered; channels and times only.
create function find_asked_links(p_tenant text, p_now timestamptz)
returns table (channel text, until timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select k.asked_channel, k.expires_at from link_codes k
    join directory d on d.channel = k.asked_channel and d.account = k.asked_account and d.user_key = k.asked_user_key
    where d.person = p_tenant and k.used_at is null and k.expires_at > p_now
    order by k.expires_at, k.code_hash
$$;

-- Records that an address is asked whether its person agrees to the link of a code.
create function note_link_asked(
    p_tenant text, p_code_hash bytea, p_channel text, p_account text, p_user_key text, p_by text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update link_codes k
    set asked_channel = p_channel, asked_account = p_account, asked_user_key = p_user_key, asked_by = p_by
    where k.tenant_id = p_tenant and k.code_hash = p_code_hash
      -- A resumed turn asks again; it does not count as the message before its own answer.
      and (k.asked_channel, k.asked_account, k.asked_user_key) is distinct from (p_channel, p_account, p_user_key);
end $$;

-- Enqueues a text to each of these places of a person that may be written to, in its newest top-level conversation.
create function tell_places(p_tenant text, p_identities text[], p_text text, p_outbound text)
returns table (conversation_id text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    for conversation_id in
        select distinct on (c.identity_id) c.id from conversations c
        join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
        where c.tenant_id = p_tenant and c.identity_id = any (p_identities) and c.thread = ''
          and i.state = 'active' and i.admitted <> ''
        order by c.identity_id, c.last_inbound_at desc nulls last
    loop
        perform enqueue(p_tenant, conversation_id, null, jsonb_build_array(jsonb_build_object(
            'id', p_outbound || '.' || conversation_id, 'kind', 'receipt', 'text', p_text)));
        return next;
    end loop;
end $$;

-- The first step of a merge: records what the other person has, before anything is adjusted.
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
        union all select 'profile_facts', array[id], number, '' from profile_facts where tenant_id = p_gone
        union all select 'notifications', array[id], null, '' from notifications where tenant_id = p_gone
        union all select 'links', array[id], null, '' from links where tenant_id = p_gone
        union all select 'recipients', array[id], null, '' from recipients where tenant_id = p_gone
        union all select 'stored_values', array[collection, key], number, key from stored_values
        where tenant_id = p_gone
        union all select 'credentials', array[service, account_name], null, account_name from credentials
        where tenant_id = p_gone
        -- Rows of p_gone in tables of abilities, with the numbers they were told by, come from their sql/linked.sql.
        ) r;
end $$;

-- A stranger's address that was linked by a code can be unlinked too; nobody had let the stranger in.
create function note_link_of_stranger(p_tenant text, p_identity text, p_link text, p_other text, p_now timestamptz)
returns void
language plpgsql as $$
begin
    p_other := in_partition(p_other);
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into links (tenant_id, id, other_id, other, before, made_at)
    select p_tenant, p_link, p_other, to_jsonb(t) || jsonb_build_object(
        'tenant_id', p_other, 'role', 'guest', 'tier', '', 'name', '', 'timezone', '', 'language', '', 'language_from', '',
        'preferred_channel', '', 'quiet_from', '', 'quiet_until', '', 'muted', '[]'::jsonb), to_jsonb(t), p_now
    from tenants t where t.tenant_id = p_tenant;
    insert into linked_rows (tenant_id, link_id, of, key) values (p_tenant, p_link, 'identities', array[p_identity]);
end $$;
