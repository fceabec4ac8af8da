-- Standing consents: granted by an approval, used and counted in one transaction, ended.

create function audit_consent(p_tenant text, p_id text, p_now timestamptz, p_what text, p_how text, p_detail jsonb)
returns void
language sql as $$
    insert into approval_audit (tenant_id, approval_id, at, what, hash, how, detail)
    select c.tenant_id, c.approval_id, p_now, p_what, c.hash, p_how, jsonb_build_object('consent', c.number) || p_detail
    from standing_consents c where c.tenant_id = p_tenant and c.id = p_id
$$;

-- Stores a consent that its person has just approved: {id, turn_id, agent, asked, name, sealed, hash, told, max_uses,
-- expires_at}. `refused`: `not_approved` where no high-risk approval of exactly what was asked stands behind it, decided
-- by the person, or `too_many`. Repeatable by the id.
create function grant_consent(p_tenant text, p_consent jsonb, p_max_active int, p_now timestamptz)
returns table (number bigint, refused text)
language plpgsql as $$
declare
    v_approval text;
    v_number bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Two that are granted at once get two numbers, and are both counted.
    perform pg_advisory_xact_lock(hashtextextended('consent' || chr(31) || p_tenant, 0));
    select c.number into v_number from standing_consents c where c.tenant_id = p_tenant and c.id = p_consent ->> 'id';
    if found then
        return query select v_number, ''::text;
        return;
    end if;
    select a.id into v_approval from approvals a
    where a.tenant_id = p_tenant and a.turn_id = p_consent ->> 'turn_id' and a.name = p_consent ->> 'agent'
      and a.state = 'approved' and a.risk = 'high' and a.decided_how <> 'operator'
      and not exists (select from jsonb_each(p_consent -> 'asked') e where a.arguments -> e.key is distinct from e.value)
    order by a.decided_at desc limit 1;
    if v_approval is null then
        return query select 0::bigint, 'not_approved'::text;
        return;
    end if;
    if (select count(*) from standing_consents c where c.tenant_id = p_tenant and c.state = 'active'
        and c.expires_at > p_now) >= p_max_active then
        return query select 0::bigint, 'too_many'::text;
        return;
    end if;
    select coalesce(max(c.number), 0) + 1 into v_number from standing_consents c where c.tenant_id = p_tenant;
    insert into standing_consents (tenant_id, id, number, turn_id, approval_id, name, sealed, hash, told, max_uses,
                                   expires_at, created_at)
    values (p_tenant, p_consent ->> 'id', v_number, p_consent ->> 'turn_id', v_approval, p_consent ->> 'name',
            p_consent ->> 'sealed', p_consent ->> 'hash', p_consent ->> 'told', (p_consent ->> 'max_uses')::int,
            (p_consent ->> 'expires_at')::timestamptz, p_now);
    perform audit_consent(p_tenant, p_consent ->> 'id', p_now, 'granted', '', (p_consent ->> 'sealed')::jsonb);
    return query select v_number, ''::text;
end $$;

-- Uses a consent for one call, {id, consent_id, hash, turn_id, call_id, arguments_hash}: checks it, counts the use, records
-- it and notes what the person is told of it, all in this transaction, under the consent's lock. `used`: the number of
-- the use, 0 where the consent no longer serves. A repeat of the call gets its own use again, while it is the same call.
-- p_notice: the sentence, in which the id of the use stands for its number.
create function use_consent(p_tenant text, p_use jsonb, p_notice text, p_now timestamptz)
returns table (used int, use_id text)
language plpgsql as $$
declare
    v_consent standing_consents%rowtype;
    v_use consent_uses%rowtype;
    v_id text := p_use ->> 'id';
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v_consent from standing_consents c
    where c.tenant_id = p_tenant and c.id = p_use ->> 'consent_id' for update;
    select * into v_use from consent_uses u
    where u.tenant_id = p_tenant and u.turn_id = p_use ->> 'turn_id' and u.call_id = p_use ->> 'call_id';
    if found then
        return query select case when v_use.arguments_hash = p_use ->> 'arguments_hash'
            and v_use.consent_id = v_consent.id then v_use.number else 0 end, v_use.id;
        return;
    end if;
    if v_consent.id is null or v_consent.state <> 'active' or v_consent.expires_at <= p_now
       or v_consent.used >= v_consent.max_uses or v_consent.hash <> p_use ->> 'hash'
       or v_consent.hash <> encode(sha256(convert_to(v_consent.sealed, 'UTF8')), 'hex') then
        return query select 0, ''::text;
        return;
    end if;
    update standing_consents c
    set used = c.used + 1, state = case when c.used + 1 = c.max_uses then 'ended' else 'active' end,
        reason = case when c.used + 1 = c.max_uses then 'used_up' else '' end,
        ended_at = case when c.used + 1 = c.max_uses then p_now end
    where c.tenant_id = p_tenant and c.id = v_consent.id;
    insert into consent_uses (tenant_id, id, consent_id, turn_id, call_id, arguments_hash, number, at)
    values (p_tenant, v_id, v_consent.id, p_use ->> 'turn_id', p_use ->> 'call_id', p_use ->> 'arguments_hash',
            v_consent.used + 1, p_now);
    perform audit_consent(p_tenant, v_consent.id, p_now, 'used', '', jsonb_build_object(
        'use', v_consent.used + 1, 'turn', p_use ->> 'turn_id', 'call', p_use ->> 'call_id'));
    if v_consent.used + 1 = v_consent.max_uses then
        perform audit_consent(p_tenant, v_consent.id, p_now, 'ended', 'used_up', '{}');
    end if;
    perform tell_of_consent(p_tenant, v_id, case v_consent.told when 'digest' then 'low' else 'normal' end,
                            replace(p_notice, v_id, (v_consent.used + 1)::text), p_now);
    return query select v_consent.used + 1, v_id;
end $$;

-- Notes what the person is told about a consent; when it is sent, their preferences decide.
create function tell_of_consent(p_tenant text, p_about text, p_urgency text, p_text text, p_now timestamptz)
returns void
language sql as $$
    insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, not_before)
    values (p_tenant, 'ntf_' || p_about, 'consent', p_urgency, p_text, 'consent:' || p_about, 'held', p_now, '-infinity')
    on conflict on constraint notifications_pkey do nothing
$$;

-- Ends active consents: of a number, of an id, or all of a person's where both are null. Returns those that this ended.
-- p_text: what the person is told of it, empty where they know.
create function end_consents(
    p_tenant text, p_number bigint, p_id text, p_reason text, p_how text, p_text text, p_now timestamptz)
returns table (number bigint, name text, sealed text)
language plpgsql as $$
declare
    v_row record;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    for v_row in
        update standing_consents c set state = 'ended', reason = p_reason, ended_at = p_now
        where c.tenant_id = p_tenant and c.state = 'active' and (p_number is null or c.number = p_number)
          and (p_id is null or c.id = p_id)
        returning c.id, c.number, c.name, c.sealed
    loop
        perform audit_consent(p_tenant, v_row.id, p_now, 'ended', rtrim(p_reason || ' ' || p_how), '{}');
        if p_text <> '' then
            perform tell_of_consent(p_tenant, v_row.id || '_end', 'normal', p_text, p_now);
        end if;
        number := v_row.number;
        name := v_row.name;
        sealed := v_row.sealed;
        return next;
    end loop;
end $$;

-- Ends everybody's consents whose time is over, and deletes those that ended before p_ended_before, unless the journal
-- still holds a call that ran by them. Returns how many.
create function tidy_consents(p_now timestamptz, p_ended_before timestamptz)
returns table (expired bigint, deleted bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    update standing_consents c set state = 'ended', reason = 'expired', ended_at = p_now
    where c.state = 'active' and c.expires_at <= p_now;
    get diagnostics expired = row_count;
    delete from standing_consents c where c.state = 'ended' and c.ended_at < p_ended_before
      and not exists (select from consent_uses u join steps s on s.tenant_id = u.tenant_id and s.turn_id = u.turn_id
                      where u.tenant_id = c.tenant_id and u.consent_id = c.id);
    get diagnostics deleted = row_count;
    return next;
end $$;
