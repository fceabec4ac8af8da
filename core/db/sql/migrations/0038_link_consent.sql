-- People: whoever types a link code is asked first, whatever either side has; all places of both are told; a merge
-- raises nobody's role; and wrong codes of some lock nobody else out.

-- The address at which it was asked whether its person agrees to this code's link, and the turn or the message that
-- asked: an answer counts only there, and only in a later message.
alter table link_codes add column asked_channel text not null default '';
alter table link_codes add column asked_account text not null default '';
alter table link_codes add column asked_user_key text not null default '';
alter table link_codes add column asked_by text not null default '';

drop function begin_link(text, text, bytea, boolean, text[], timestamptz, int, int, interval);
drop function link_stranger(text, text, text, text, text, text[], text, text, bytea, timestamptz, int, int, interval,
                            text, text, text, text);
drop function try_link_code(bytea, text, text, text, text, timestamptz, int, int, interval);
drop function count_link_guess(text, text, text, text, timestamptz);

-- Looks at a code that somebody typed. Wrong ones count against their own address only: with more than 44 bits and
-- ten minutes nobody finds one, from however many addresses. Takes the person who was given the code, alone, before
-- the code is looked at. 'good', 'wrong', 'used', 'expired', 'limited'; asked: whether this address was asked about
-- it before, by another message than p_by.
create function try_link_code(
    p_code_hash bytea, p_scope text, p_channel text, p_account text, p_user_key text, p_by text, p_now timestamptz,
    p_most_of_sender int, p_window interval)
returns table (outcome text, tenant_id text, identity_id text, used_by text, asked boolean)
language plpgsql as $$
declare
    v_sender text := p_scope || chr(31) || p_channel || chr(31) || p_account || chr(31) || p_user_key;
    v_tenant text;
    v_code link_codes%rowtype;
    v_outcome text;
begin
    if next_guess(v_sender, p_most_of_sender, p_window, p_now) is not null then
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

-- Notes that an address is asked whether its person agrees to the link that a code stands for.
create function note_link_asked(
    p_tenant text, p_code_hash bytea, p_channel text, p_account text, p_user_key text, p_by text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update link_codes k
    set asked_channel = p_channel, asked_account = p_account, asked_user_key = p_user_key, asked_by = p_by
    where k.tenant_id = p_tenant and k.code_hash = p_code_hash
      -- A turn that is taken up again asks again; it does not become the message before its own answer.
      and (k.asked_channel, k.asked_account, k.asked_user_key) is distinct from (p_channel, p_account, p_user_key);
end $$;

-- Owes a text to each of these places of a person that may be written to, in its newest conversation at top level.
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
        perform owe(p_tenant, conversation_id, null, jsonb_build_array(jsonb_build_object(
            'id', p_outbound || '.' || conversation_id, 'kind', 'receipt', 'text', p_text)));
        return next;
    end loop;
end $$;

-- As in 0017; but 'ask', with the person and the identity that were given the code, whenever the typer has not
-- agreed in a message after the question, whatever the two have.
create function begin_link(
    p_kept text, p_turn text, p_code_hash bytea, p_agreed boolean, p_tables text[], p_now timestamptz,
    p_most_of_sender int, p_window interval)
returns table (outcome text, gone_id text, identity_id text, counts jsonb)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_me identities%rowtype;
    v_code record;
    v_gone text;
    v_counts jsonb;
begin
    select i.* into v_me from turns t
    join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    where t.tenant_id = p_kept and t.id = p_turn and t.state = 'running';
    if v_me.id is null then
        raise exception 'turn over' using errcode = 'OV001';
    end if;
    select k.tenant_id into v_gone from link_codes k where k.code_hash = p_code_hash;
    -- In one order, whoever asks: two people who type each other's codes at once do not wait for each other.
    perform hold_person(least(p_kept, coalesce(v_gone, p_kept)), true);
    perform hold_person(greatest(p_kept, coalesce(v_gone, p_kept)), true);
    select * into v_code from try_link_code(
        p_code_hash, 'link', v_me.channel, v_me.account, v_me.user_key, p_turn, p_now, p_most_of_sender, p_window);
    if v_code.outcome = 'used' and v_code.used_by = p_turn then
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
        perform note_link_asked(v_gone, p_code_hash, v_me.channel, v_me.account, v_me.user_key, p_turn);
        return query select 'ask', v_gone, v_code.identity_id, v_counts;
        return;
    end if;
    perform 1 from lanes l where l.tenant_id = v_gone order by l.id for update;
    perform 1 from outbound o where o.tenant_id = v_gone and o.state in ('ready', 'sending', 'checking')
    order by o.id for update;
    if exists (select from lanes l where l.tenant_id = v_gone and l.owner is not null
               and l.lease_until > clock_timestamp())
       or exists (select from outbound o where o.tenant_id = v_gone and o.owner is not null
                  and o.lease_until > clock_timestamp()) then
        return query select 'busy', '', '', '{}'::jsonb;
        return;
    end if;
    perform 1 from data_keys d where d.tenant_id in (p_kept, v_gone) order by d.tenant_id, d.version for update;
    perform 1 from credentials c where c.tenant_id = v_gone order by c.service, c.account_name for update;
    update link_codes k set used_at = p_now, used_by = p_turn where k.code_hash = p_code_hash;
    return query select 'go', v_gone, v_code.identity_id, v_counts;
end $$;

-- As in 0025; but the lower of the two roles counts.
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

-- Somebody whom nobody knows typed a code of a person's. 'ask', with the person and the identity that were given it,
-- until they agree in a message after the question; then their address becomes that person's: 'linked', with it and
-- its conversation. Kept without its text. 'duplicate', or why not; an unknown address hears nothing of the why.
create function link_stranger(
    p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[],
    p_name text, p_timezone text, p_code_hash bytea, p_now timestamptz,
    p_agreed boolean, p_most_of_sender int, p_window interval,
    p_new_identity text, p_new_conversation text, p_outbound text)
returns table (outcome text, tenant_id text, identity_id text, conversation_id text)
language plpgsql as $$
declare
    v_gone text;
    v_person text;
    v_code record;
    v_conversation text;
begin
    if exists (select 1 from ignored_messages g where g.channel = p_channel and g.account = p_account
               and g.key = any (p_keys)) then
        return query select 'duplicate', '', '', '';
        return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended(p_channel || chr(31) || p_account || chr(31) || p_user_key, 0));
    select f.tenant_id into v_person from find_link_code(p_code_hash) f;
    if v_person is not null then
        perform hold_person(v_person, true);
    end if;
    select * into v_code from try_link_code(
        p_code_hash, 'link of a stranger', p_channel, p_account, p_user_key, p_outbound, p_now,
        p_most_of_sender, p_window);
    if v_code.outcome <> 'good' then
        return query select v_code.outcome, '', '', '';
        return;
    end if;
    if not ignore_message(p_channel, p_account, p_keys, 'link') then
        return query select 'duplicate', '', '', '';
        return;
    end if;
    v_person := v_code.tenant_id;
    if not (p_agreed and v_code.asked) then
        perform note_link_asked(v_person, p_code_hash, p_channel, p_account, p_user_key, p_outbound);
        return query select 'ask', v_person, v_code.identity_id, '';
        return;
    end if;
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
    perform mark_channel(p_channel, p_account, true);
    return query select 'linked', v_person, p_new_identity, v_conversation;
end $$;

-- Owes a stranger a text: they are kept as somebody whom nobody let in, and forgotten as such.
create function tell_stranger(
    p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_name text, p_timezone text,
    p_outbound text, p_text text, p_new_tenant text, p_new_identity text, p_new_conversation text)
returns table (conversation_id text)
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
begin
    if exists (select from find_consent(p_channel, p_account, p_user_key) f where f.state = 'stopped') then
        return;
    end if;
    select a.tenant_id, a.identity_id into v_tenant, v_identity
    from admit_identity(p_channel, p_account, p_user_key, p_name, p_timezone, p_new_tenant, p_new_identity,
                        '', 'guest') a;
    conversation_id := open_conversation(
        v_tenant, v_identity, p_channel, p_account, p_peer, p_thread, p_new_conversation);
    perform owe(v_tenant, conversation_id, null,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'receipt', 'text', p_text)));
    return next;
end $$;

-- As in 0013; but who was asked about a link is kept until its code has run out.
create or replace function drop_strangers(p_now timestamptz)
returns table (strangers bigint, codes bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_row record;
    v_strangers bigint := 0;
    v_codes bigint;
begin
    for v_row in
        select i.tenant_id from identities i
        where i.admitted = '' and not exists (
            select 1 from pairings p where p.channel = i.channel and p.account = i.account
              and p.user_key = i.user_key and p.used_at is null and p.expires_at > p_now)
          and not exists (
            select 1 from link_codes k where k.asked_channel = i.channel and k.asked_account = i.account
              and k.asked_user_key = i.user_key and k.used_at is null and k.expires_at > p_now)
        order by i.tenant_id for update skip locked
    loop
        perform 1 from outbound o where o.tenant_id = v_row.tenant_id for update;
        if not exists (select 1 from outbound o where o.tenant_id = v_row.tenant_id
                       and o.owner is not null and o.lease_until > clock_timestamp()) then
            delete from tenants t where t.tenant_id = v_row.tenant_id;
            v_strangers := v_strangers + 1;
        end if;
    end loop;
    delete from pairings p where p.asked_at < p_now - interval '2 days';
    get diagnostics v_codes = row_count;
    delete from guesses g where g.at < p_now - interval '2 days';
    return query select v_strangers, v_codes;
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('try_link_code', 'note_link_asked', 'tell_places', 'begin_link', 'link_stranger',
                            'tell_stranger')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
