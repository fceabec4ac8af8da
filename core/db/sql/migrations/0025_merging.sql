-- People: what becomes of two who become one, of strangers with a code, and of a place that stands alone again.

-- What one person kept becomes another's. A key that both have stays the kept one's; the other is kept beside it,
-- unless it is the same. Numbers that both have told come to mean the kept one's.
create function merge_values(p_kept text, p_gone text)
returns void
language plpgsql as $$
declare
    v_value record;
begin
    insert into stored_collections as c (tenant_id, name, last_number)
    select p_kept, g.name, g.last_number from stored_collections g where g.tenant_id = p_gone
    on conflict (tenant_id, name) do update set last_number = greatest(c.last_number, excluded.last_number);
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
            v_value.key := left(v_value.key, 100) || ' ' || left(p_gone, 99);
        end if;
        insert into stored_values values (p_kept, v_value.collection, v_value.key, v_value.number, v_value.value,
                                          v_value.created_at);
    end loop;
    delete from stored_collections g where g.tenant_id = p_gone;
end $$;

-- The second half of a link: all that belongs to one person becomes the other's, and the one is no more. p_rules says
-- of each table how, {table: move | first | number | add | values | sealed | person | drop}, and must name them all:
-- move: every row; first: those that the kept one has not under the same key; number: every row, with numbers after
-- the kept one's; sealed: p_sealed, sealed anew, in place of what there was. Only for the pair that begin_link let through in this transaction.
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
    delete from credentials c where c.tenant_id = p_gone;
    delete from data_keys d where d.tenant_id = p_gone;
    update tenants k
    set name = coalesce(nullif(k.name, ''), g.name), language = coalesce(nullif(k.language, ''), g.language),
        timezone = coalesce(nullif(k.timezone, ''), g.timezone),
        preferred_channel = coalesce(nullif(k.preferred_channel, ''), g.preferred_channel),
        quiet_from = case when k.quiet_from = '' then g.quiet_from else k.quiet_from end,
        quiet_until = case when k.quiet_from = '' then g.quiet_until else k.quiet_until end,
        while_running = case when k.while_running = 'steer' then g.while_running else k.while_running end,
        -- It is one person: what one of their places may do, all may. A tier stays with its role.
        tier = case when rank_of(g.role) > rank_of(k.role) then g.tier
                    when rank_of(g.role) = rank_of(k.role) then coalesce(nullif(k.tier, ''), g.tier) else k.tier end,
        role = case when rank_of(g.role) > rank_of(k.role) then g.role else k.role end
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

create function rank_of(p_role text)
returns int
language sql immutable as $$
    select case p_role when 'owner' then 3 when 'member' then 2 else 1 end
$$;

-- Somebody whom nobody knows typed a code of a person's: their address becomes that person's. Kept without its
-- text. 'linked', or 'duplicate', or why not; an unknown address hears nothing of the why.
create function link_stranger(
    p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[],
    p_name text, p_timezone text, p_code_hash bytea, p_now timestamptz,
    p_most_of_sender int, p_most_of_account int, p_window interval,
    p_new_identity text, p_new_conversation text, p_outbound text, p_text text)
returns table (outcome text, conversation_id text)
language plpgsql as $$
declare
    v_gone text;
    v_person text;
    v_code record;
    v_conversation text;
begin
    if exists (select 1 from ignored_messages g where g.channel = p_channel and g.account = p_account
               and g.key = any (p_keys)) then
        return query select 'duplicate', null::text;
        return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended(p_channel || chr(31) || p_account || chr(31) || p_user_key, 0));
    select f.tenant_id into v_person from find_link_code(p_code_hash) f;
    if v_person is not null then
        perform hold_person(v_person, true);
    end if;
    select * into v_code from try_link_code(
        p_code_hash, 'link of a stranger', p_channel, p_account, p_user_key, p_now,
        p_most_of_sender, p_most_of_account, p_window);
    if v_code.outcome <> 'good' then
        if v_code.outcome <> 'limited' then
            perform count_link_guess('link of a stranger', p_channel, p_account, p_user_key, p_now);
        end if;
        return query select v_code.outcome, null::text;
        return;
    end if;
    if not ignore_message(p_channel, p_account, p_keys, 'link') then
        return query select 'duplicate', null::text;
        return;
    end if;
    v_person := v_code.tenant_id;
    select f.tenant_id into v_gone from find_identity(p_channel, p_account, p_user_key) f;
    if v_gone is not null then
        perform set_config('onevalet.tenant', v_gone, true);
        delete from tenants t where t.tenant_id = v_gone and not exists (
            select from identities i where i.tenant_id = v_gone and i.admitted <> '');
        if not found then
            raise exception 'the stranger is known by now' using errcode = 'serialization_failure';
        end if;
    end if;
    perform set_config('onevalet.tenant', v_person, true);
    update link_codes k set used_at = p_now, used_by = p_outbound
    where k.tenant_id = v_person and k.code_hash = p_code_hash;
    insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted, state, state_reason)
    select v_person, p_new_identity, p_channel, p_account, p_user_key, p_name, p_timezone, 'link',
           coalesce(max(f.state), 'active'), case when max(f.state) is null then '' else 'said before' end
    from find_consent(p_channel, p_account, p_user_key) f where f.state = 'stopped';
    update tenants t set timezone = p_timezone where t.tenant_id = v_person and t.timezone = '';
    insert into person_audit (tenant_id, what, channel, account, identity_id)
    values (v_person, 'linked', p_channel, p_account, p_new_identity);
    v_conversation := open_conversation(
        v_person, p_new_identity, p_channel, p_account, p_peer, p_thread, p_new_conversation);
    perform owe(v_person, v_conversation, null,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'receipt', 'text', p_text)));
    perform mark_channel(p_channel, p_account, true);
    return query select 'linked', v_conversation;
end $$;

-- The identity of a turn becomes a new person's, who has nothing. What was said there stays with the old one, under
-- an identity that nobody has any more. 'unlinked' with the new conversation, to which the answer is owed; 'alone'
-- where there is nobody to be unlinked from.
create function unlink_identity(
    p_tenant text, p_turn text, p_new_tenant text, p_new_identity text, p_new_conversation text,
    p_outbound text, p_text text)
returns table (outcome text, conversation_id text)
language plpgsql as $$
declare
    v_me identities%rowtype;
    v_from conversations%rowtype;
    v_old tenants%rowtype;
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform hold_person(p_tenant, true);
    select c.* into v_from from turns t join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    where t.tenant_id = p_tenant and t.id = p_turn;
    select i.* into v_me from identities i where i.tenant_id = p_tenant and i.id = v_from.identity_id;
    if v_me.state_reason = 'unlinked' then  -- this turn did it before, and its worker died
        return query select 'unlinked', null::text;
        return;
    end if;
    if (select count(*) from identities i where i.tenant_id = p_tenant and i.state_reason <> 'unlinked') < 2 then
        return query select 'alone', null::text;
        return;
    end if;
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
    perform set_config('onevalet.tenant', p_new_tenant, true);
    -- No more than before may be done by starting again, and not as the one who runs us.
    insert into tenants (tenant_id, name, timezone, role, tier)
    values (p_new_tenant, v_me.name, v_me.timezone,
            case when v_old.role = 'owner' then 'member' else v_old.role end,
            case when v_old.role = 'owner' then '' else v_old.tier end);
    insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted)
    values (p_new_tenant, p_new_identity, v_me.channel, v_me.account, v_me.user_key, v_me.name, v_me.timezone,
            v_me.admitted);
    insert into person_audit (tenant_id, what, channel, account, identity_id, other)
    values (p_new_tenant, 'unlinked', v_me.channel, v_me.account, p_new_identity, p_tenant);
    v_conversation := open_conversation(
        p_new_tenant, p_new_identity, v_me.channel, v_me.account, v_from.peer, v_from.thread, p_new_conversation);
    perform owe(p_new_tenant, v_conversation, null,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', p_text)));
    return query select 'unlinked', v_conversation;
end $$;

-- Takes codes that have done their work out of what was said: none is kept in clear. Forgets old ones.
create function drop_link_codes(p_now timestamptz)
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
          and p.proname in ('merge_values', 'merge_people', 'rank_of', 'link_stranger', 'unlink_identity',
                            'drop_link_codes')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
