CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

CREATE FUNCTION public.add_data_key(p_tenant text, p_secret_key_id text, p_wrapped bytea) RETURNS TABLE(version integer, secret_key_id text, wrapped bytea)
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into data_keys as d (tenant_id, version, secret_key_id, wrapped)
    select t.tenant_id, 1, p_secret_key_id, p_wrapped from tenants t where t.tenant_id = p_tenant
    on conflict do nothing;
    return query select * from read_data_key(p_tenant, null);
end $$;

CREATE FUNCTION public.add_event_group(p_name text, p_pattern text, p_since interval) RETURNS TABLE(group_name text, added bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    insert into event_groups (name, pattern) values (p_name, p_pattern) on conflict do nothing;
    if not found then
        return query select p_name, 0::bigint;
        return;
    end if;
    return query with made as (
        insert into event_work (tenant_id, source, event_id, group_name, streamed_at)
        select e.tenant_id, e.source, e.id, p_name, '-infinity' from events e
        where e.received_at > clock_timestamp() - p_since and e.source || ':' || e.type like p_pattern
        on conflict do nothing returning 1)
    select p_name, count(*) from made;
end $$;

CREATE FUNCTION public.add_guess(p_scope text, p_now timestamp with time zone) RETURNS void
    LANGUAGE sql
    AS $$
    insert into guesses (scope, at) values (p_scope, p_now)
$$;

CREATE FUNCTION public.admit_address(p_id text, p_channel text, p_account text, p_user_key text, p_role text, p_tier text, p_now timestamp with time zone) RETURNS TABLE(account text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_tenant text;
    v_identity text;
begin
    for account in
        select i.account from identities i
        where i.channel = p_channel and i.user_key = p_user_key and p_account in ('', i.account)
        union
        select s.account from channel_state s
        where s.channel = p_channel and s.account <> '' and p_account in ('', s.account) and not exists (
            select from identities i where i.channel = p_channel and i.user_key = p_user_key and p_account in ('', i.account))
        union
        select p_account where p_account <> ''
    loop
        select a.tenant_id, a.identity_id into v_tenant, v_identity
        from admit_identity(p_channel, account, p_user_key, '', '', p_id || '.tn.' || account,
                            p_id || '.idn.' || account, 'operator', p_role) a;
        perform set_config('onevalet.tenant', v_tenant, true);
        update pairings p set used_at = p_now, used_by = p_id
        where p.channel = p_channel and p.account = admit_address.account and p.user_key = p_user_key
          and p.used_at is null;
        update outbound_parts e set text = '(This code was used.)', data = '{}' from outbound o, identities i
        where e.tenant_id = v_tenant and o.tenant_id = v_tenant and o.id = e.outbound_id
          and i.tenant_id = v_tenant and i.id = v_identity and i.admitted = '';
        update outbound o set text = '(This code was used.)' from identities i
        where o.tenant_id = v_tenant and i.tenant_id = v_tenant and i.id = v_identity and i.admitted = '';
        update identities i set admitted = 'operator'
        where i.tenant_id = v_tenant and i.id = v_identity and i.admitted in ('', 'open', 'allowlist');
        update tenants t set role = p_role, tier = p_tier where t.tenant_id = v_tenant;
        return next;
    end loop;
end $$;

CREATE FUNCTION public.admit_identity(p_channel text, p_account text, p_user_key text, p_name text, p_timezone text, p_tenant_id text, p_identity_id text, p_admitted text, p_role text) RETURNS TABLE(tenant_id text, identity_id text)
    LANGUAGE plpgsql
    AS $$
begin
    perform pg_advisory_xact_lock(hashtextextended(p_channel || chr(31) || p_account || chr(31) || p_user_key, 0));
    return query select * from find_identity(p_channel, p_account, p_user_key);
    if found then
        return;
    end if;
    perform set_config('onevalet.tenant', p_tenant_id, true);
    insert into tenants (tenant_id, name, timezone, role) values (p_tenant_id, p_name, p_timezone, p_role);
    insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted, state, state_reason)
    select p_tenant_id, p_identity_id, p_channel, p_account, p_user_key, p_name, p_timezone, p_admitted,
           coalesce(max(f.state), 'active'), case when max(f.state) is null then '' else 'said before' end
    from find_consent(p_channel, p_account, p_user_key) f where f.state = 'stopped';
    return query select p_tenant_id, p_identity_id;
end $$;

CREATE FUNCTION public.adopt_stream() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
    v_stream text;
    v_at timestamptz;
begin
    delete from outbound o
    where o.tenant_id = new.tenant_id and o.turn_id = new.turn_id and o.state = 'held' and o.stream_at is not null
    returning o.stream, o.stream_at into v_stream, v_at;
    if found then
        new.stream := v_stream;
        new.stream_at := v_at;
    end if;
    return new;
end $$;

CREATE FUNCTION public.allow_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_day date, p_task text, p_more numeric) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, allowed,
                                   held_until)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, p_day, p_task, 0, p_more, clock_timestamp())
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update set allowed = excluded.allowed;
end $$;

CREATE FUNCTION public.answered_card(p_tenant text, p_conversation text, p_reply_to text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    select a.code from outbound_parts e
    join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id and o.conversation_id = p_conversation
    join approval_cards k on k.tenant_id = e.tenant_id and k.outbound_id = e.outbound_id
    join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id
    where p_reply_to <> '' and e.tenant_id = p_tenant and e.provider_id = p_reply_to limit 1
$$;

CREATE FUNCTION public.apply_status(p_channel text, p_account text, p_ref text, p_provider_id text, p_status text, p_rank integer, p_error_code text) RETURNS TABLE(tenant_id text, conversation_id text, resolved boolean)
    LANGUAGE plpgsql
    AS $$
declare
    v_tenant text;
    v_outbound text;
    v_part int;
    v_conversation text;
    v_before text;
begin
    select f.tenant_id, f.outbound_id, f.part into v_tenant, v_outbound, v_part
    from find_part(p_channel, p_account, p_ref, p_provider_id) f;
    if v_tenant is null then
        return;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    select o.conversation_id into v_conversation from outbound o
    where o.tenant_id = v_tenant and o.id = v_outbound for update;
    select e.state into v_before from outbound_parts e
    where e.tenant_id = v_tenant and e.outbound_id = v_outbound and e.part = v_part for update;
    update outbound_parts e
    set status = case when p_rank > e.status_rank then p_status else e.status end,
        status_at = case when p_rank > e.status_rank then clock_timestamp() else e.status_at end,
        error_code = case when p_rank > e.status_rank then p_error_code else e.error_code end,
        status_rank = greatest(e.status_rank, p_rank),
        provider_id = case when e.provider_id = '' then p_provider_id else e.provider_id end,
        state = case when e.state = 'failed' then e.state else 'sent' end,
        sent_at = case when e.state = 'failed' then e.sent_at else coalesce(e.sent_at, clock_timestamp()) end
    where e.tenant_id = v_tenant and e.outbound_id = v_outbound and e.part = v_part;
    -- Whoever holds the row sees it for himself when he writes what became of his call.
    if v_before in ('ready', 'sending', 'checking', 'ambiguous') then
        update outbound o
        set state = v.state, next_attempt_at = clock_timestamp(),
            reason = case when v.state = 'sent' then '' else o.reason end,
            sent_at = case when v.state = 'sent' then clock_timestamp() else o.sent_at end
        from (select case outbound_state(v_tenant, v_outbound) when 'sending' then 'ready'
                     else outbound_state(v_tenant, v_outbound) end as state) v
        where o.tenant_id = v_tenant and o.id = v_outbound and o.owner is null and o.state <> 'failed';
    end if;
    return query select v_tenant, v_conversation, v_before in ('ready', 'sending', 'checking', 'ambiguous');
end $$;

CREATE FUNCTION public.approval_hash(p_head text, p_expires_at timestamp with time zone, p_tail text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
    select encode(sha256(convert_to(
        p_head || to_char(p_expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || p_tail, 'UTF8')), 'hex')
$$;

CREATE FUNCTION public.approval_ran(p_tenant text, p_approval text, p_outcome text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update approvals a set ran_at = p_now
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'approved' and a.ran_at is null;
    if found then
        perform audit_approval(p_tenant, p_approval, p_now, 'ran', '', '', p_outcome, '{}');
    end if;
end $$;

CREATE FUNCTION public.audit_approval(p_tenant text, p_approval text, p_at timestamp with time zone, p_what text, p_identity text, p_channel text, p_how text, p_detail jsonb) RETURNS void
    LANGUAGE sql
    AS $$
    insert into approval_audit (tenant_id, approval_id, at, what, hash, identity_id, channel, how, detail)
    select a.tenant_id, a.id, p_at, p_what, a.hash, p_identity, p_channel, p_how, p_detail
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

CREATE FUNCTION public.begin_delivery(p_tenant text, p_outbound text, p_fence bigint, p_part integer, p_attempt integer, p_owner text, p_ttl interval) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_lost int;
begin
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    if exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound
               and e.part = p_part and e.state = 'sent') then
        return 'sent';
    end if;
    if exists (select 1 from outbound o
               join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
               join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
               where o.tenant_id = p_tenant and o.id = p_outbound and i.state <> 'active'
                 and not (o.regardless and i.state = 'stopped')) then
        return 'unreachable';
    end if;
    -- An earlier sender died over its call: nobody else will write what became of it.
    update deliveries d set finished_at = clock_timestamp(), outcome = 'ambiguous'
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part
      and d.attempt < p_attempt and d.outcome = 'started';
    get diagnostics v_lost = row_count;
    insert into deliveries (tenant_id, outbound_id, part, attempt, owner)
    values (p_tenant, p_outbound, p_part, p_attempt, p_owner)
    on conflict (tenant_id, outbound_id, part, attempt) do nothing;
    update outbound_parts e set state = 'sending'
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound and e.part = p_part;
    update outbound o
    set state = 'sending', attempts = p_attempt, ambiguities = o.ambiguities + v_lost,
        lease_until = clock_timestamp() + p_ttl
    where o.tenant_id = p_tenant and o.id = p_outbound;
    return 'go';
end $$;

CREATE FUNCTION public.begin_delivery(p_tenant text, p_outbound text, p_fence bigint, p_part integer, p_attempt integer, p_owner text, p_ttl interval, p_segments integer, p_now timestamp with time zone, p_most_of_person integer, p_most_of_all integer, p_over text, p_moved text, p_notice text, p_copy text) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_kind text;
    v_regardless boolean;
    v_share numeric;
    v_day date;
    v_today int;
    v_begun text;
begin
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    if exists (select 1 from deliveries d where d.tenant_id = p_tenant and d.outbound_id = p_outbound
               and d.part = p_part and d.attempt = p_attempt) then
        return begin_delivery(p_tenant, p_outbound, p_fence, p_part, p_attempt, p_owner, p_ttl);
    end if;
    select o.kind, o.regardless, (p_now at time zone coalesce(nullif(t.timezone, ''), 'UTC'))::date
    into v_kind, v_regardless, v_day
    from outbound o join tenants t on t.tenant_id = o.tenant_id where o.tenant_id = p_tenant and o.id = p_outbound;
    v_share := case when v_kind = 'reply' then 0.75 else 1 end;
    delete from segment_days s where s.tenant_id = p_tenant and s.day < v_day - 7;
    insert into segment_days (tenant_id, day) values (p_tenant, v_day) on conflict do nothing;
    select s.segments into v_today from segment_days s where s.tenant_id = p_tenant and s.day = v_day for update;
    if not v_regardless and v_today + p_segments > floor(p_most_of_person * v_share) then
        perform end_unpaid(p_tenant, p_outbound, p_fence, v_day, 'the day''s texts of this person are used up',
                           p_over, p_moved, p_notice, p_copy);
        return 'over_person';
    end if;
    v_begun := begin_delivery(p_tenant, p_outbound, p_fence, p_part, p_attempt, p_owner, p_ttl);
    if v_begun <> 'go' then
        return v_begun;
    end if;
    -- Last, since all people's texts wait for this row.
    if not take_segments_of_all((p_now at time zone 'UTC')::date, p_segments,
                                case when v_regardless then 2147483647 else floor(p_most_of_all * v_share)::int end)
    then
        update deliveries d set finished_at = clock_timestamp(), outcome = 'rejected'
        where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
        perform end_unpaid(p_tenant, p_outbound, p_fence, v_day, 'the day''s texts of all people are used up',
                           p_over, p_moved, p_notice, p_copy);
        return 'over_all';
    end if;
    update segment_days s set segments = s.segments + p_segments where s.tenant_id = p_tenant and s.day = v_day;
    return 'go';
end $$;

CREATE FUNCTION public.begin_link(p_kept text, p_turn text, p_code_hash bytea, p_agreed boolean, p_tables text[], p_now timestamp with time zone, p_most_of_sender integer, p_window interval) RETURNS TABLE(outcome text, gone_id text, identity_id text, counts jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.begin_look(p_tenant text, p_task text, p_begun integer, p_now timestamp with time zone, p_lease interval) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tasks t set looks_begun = p_begun + 1, next_at = p_now + p_lease * power(2, least(p_begun, 5))
    where t.tenant_id = p_tenant and t.id = p_task and t.state = 'ACTIVE' and t.looks_begun in (p_begun, p_begun + 1);
    return found;
end $$;

CREATE FUNCTION public.begin_parting(p_tenant text, p_link text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_link links%rowtype;
begin
    select * into v_link from links l where l.tenant_id = p_tenant and l.id = p_link for update;
    if v_link.id is null then
        raise exception 'no such link';
    end if;
    insert into tenants select (jsonb_populate_record(null::tenants, v_link.other)).*;
    -- What was added in between and bears no mark of the place where it was: nobody can say whose it is.
    delete from credentials c where c.tenant_id = p_tenant and c.created_at > v_link.linked_at
      and not exists (select from linked_rows r where r.tenant_id = p_tenant and r.of = 'credentials'
                      and r.key = array[c.service, c.account_name]);
    perform claim_since(p_tenant, v_link);
    update tasks t set state = 'PAUSED', reason = 'made while two people were linked'
    where t.tenant_id = p_tenant and t.created_at > v_link.made_at and t.state = 'ACTIVE'
      and not exists (select from linked_rows r where r.tenant_id = p_tenant and r.of = 'tasks' and r.key = array[t.id]
                      and r.link_id <> p_link);
end $$;

CREATE FUNCTION public.begin_run(p_tenant text, p_turn text, p_on text[] DEFAULT '{}'::text[]) RETURNS TABLE(run_id text, history jsonb, conversation_id text)
    LANGUAGE plpgsql
    AS $$
declare
    v_home text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select 1 from task_runs r where r.tenant_id = p_tenant and r.turn_id = p_turn and r.started_at is null) then
        select home_conversation(p_tenant, coalesce(k.output ->> 'channel', ''), p_on) into v_home
        from task_runs r join tasks k on k.tenant_id = r.tenant_id and k.id = r.task_id
        where r.tenant_id = p_tenant and r.turn_id = p_turn;
        update turns t set conversation_id = v_home where t.tenant_id = p_tenant and t.id = p_turn;
        update task_runs r set conversation_id = v_home, started_at = clock_timestamp()
        where r.tenant_id = p_tenant and r.turn_id = p_turn;
    end if;
    return query update task_runs r set state = 'RUNNING'
    where r.tenant_id = p_tenant and r.turn_id = p_turn and r.state in ('QUEUED', 'RUNNING', 'PENDING_APPROVAL')
    returning r.id, r.history, r.conversation_id;
end $$;

CREATE FUNCTION public.begin_stream(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_outbound text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select t.conversation_id into v_conversation from turns t
    where t.tenant_id = p_tenant and t.id = p_turn and t.fence = p_fence and t.state = 'running';
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    perform hold_lane(p_tenant, p_lane, p_fence);
    if v_conversation is not null and not exists (
            select 1 from outbound e where e.tenant_id = p_tenant and e.conversation_id = v_conversation
            and (e.state in ('ready', 'sending', 'checking')
                 or e.turn_id = p_turn and e.state = 'held' and e.stream_at is not null)) then
        insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, state, stream_at)
        values (p_tenant, p_outbound, v_conversation, p_turn, 'reply', '', 'held', clock_timestamp())
        on conflict on constraint outbound_pkey do nothing;
    end if;
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held');
end $$;

CREATE FUNCTION public.begin_turn(p_tenant text, p_lane text, p_fence bigint, p_owner text, p_turn text) RETURNS TABLE(turn_id text, attempts integer, resumed boolean, blamed integer, suspect boolean)
    LANGUAGE plpgsql
    AS $$
declare
    v_turn turns%rowtype;
    v_conversation text;
    v_command bigint;
    v_first bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.conversation_id into v_conversation from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    if lane_let_go(p_tenant, p_lane, p_fence) then
        return;
    end if;
    perform hold_lane(p_tenant, p_lane, p_fence);
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'running';
    if v_turn.id is not null then
        if v_turn.fence <> p_fence then
            update turns t set fence = p_fence, owner = p_owner, tried_at = clock_timestamp()
            where t.tenant_id = p_tenant and t.id = v_turn.id returning t.* into v_turn;
        end if;
        return query select v_turn.id, v_turn.attempts, v_turn.id <> p_turn, v_turn.blamed, v_turn.suspect;
        return;
    end if;
    -- Nothing else begins beside a suspect that has just begun. Whoever is free next goes on here.
    if suspect_begun(process_of(p_owner)) then
        update lanes l set owner = null, lease_until = null
        where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence;
        return;
    end if;
    -- A waiting turn that may go on comes before what was written since: its person has answered.
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.state = 'waiting' and t.ready
    order by t.started_at limit 1;
    if v_turn.id is not null then
        update turns t
        set state = 'running', ready = false, attempts = 1, fence = p_fence, owner = p_owner,
            suspect = false, blamed = 0, died_after = -1, died_there = 0, deaths = 0, tried_at = clock_timestamp()
        where t.tenant_id = p_tenant and t.id = v_turn.id;
        return query select v_turn.id, 1, true, 0, false;
        return;
    end if;
    if not exists (select 1 from inbound i where i.tenant_id = p_tenant
                   and i.conversation_id = v_conversation and i.state = 'waiting') then
        update lanes l set pending = false, pending_since = null, owner = null, lease_until = null
        where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence;
        return;
    end if;
    insert into turns (tenant_id, id, lane_id, conversation_id, fence, owner)
    values (p_tenant, p_turn, p_lane, v_conversation, p_fence, p_owner);
    -- Messages are taken together up to the next command; a command is a turn of its own.
    select min(i.seq) into v_command from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting'
      and i.command is not null;
    select min(i.seq) into v_first from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting';
    update inbound i set state = 'taken', turn_id = p_turn
    where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting'
      and case when v_command is null then true when v_command = v_first then i.seq = v_first
               else i.seq < v_command end;
    return query select p_turn, 1, false, 0, false;
end $$;

CREATE FUNCTION public.blot(p_value jsonb, p_phrases text[]) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
    return case jsonb_typeof(p_value)
        when 'string' then case when says_any(p_value #>> '{}', p_phrases) then '"[forgotten]"' else p_value end
        when 'array' then (select coalesce(jsonb_agg(blot(item, p_phrases) order by place), '[]')
                           from jsonb_array_elements(p_value) with ordinality x (item, place))
        when 'object' then (select coalesce(jsonb_object_agg(name, case
                                when name in ('role', 'tool_call_id', 'type', 'kind') then item
                                when name = 'id' and p_value ? 'arguments' then item
                                when name = 'arguments' and jsonb_typeof(item) = 'string'
                                    and says_any(item #>> '{}', p_phrases) then '"{}"'
                                else blot(item, p_phrases) end), '{}')
                            from jsonb_each(p_value) x (name, item))
        else p_value
    end;
end $$;

CREATE FUNCTION public.blot_out(p_tenant text, p_phrases text[]) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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
    update pool_entries e set collected_fields = blot(e.collected_fields, p_phrases), context = blot(e.context, p_phrases),
        reason = case when says_any(e.reason, p_phrases) then '[forgotten]' else e.reason end
    where e.tenant_id = p_tenant and e.status in ('CANCELLED', 'COMPLETED')
      and says_any(concat_ws(' ', e.collected_fields, e.context, e.reason), p_phrases);
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
       and not exists (select from pool_entries e where e.tenant_id = p_tenant
                       and says_any(concat_ws(' ', e.collected_fields, e.context, e.reason), p_phrases))
       and not exists (select from memory_jobs j where j.tenant_id = p_tenant and says_any(j.messages::text, p_phrases))
       and not exists (select from outbound o where o.tenant_id = p_tenant and says_any(o.text, p_phrases));
end $$;

CREATE FUNCTION public.blot_out_beside(p_tenant text, p_phrases text[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
    delete from profile_facts f where f.tenant_id = p_tenant and says_any(f.value, p_phrases);
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
    update task_runs r set cause = blot(r.cause, p_phrases), history = blot(r.history, p_phrases),
        reason = case when says_any(r.reason, p_phrases) then '[forgotten]' else r.reason end
    where r.tenant_id = p_tenant and r.state not in ('QUEUED', 'RUNNING', 'PENDING_APPROVAL')
      and says_any(r.cause::text || r.history::text || r.reason, p_phrases);
    update tasks k set title = case when says_any(k.title, p_phrases) then '[forgotten]' else k.title end,
        action = blot(k.action, p_phrases), watch = blot(k.watch, p_phrases), output = blot(k.output, p_phrases),
        trigger = blot(k.trigger, p_phrases),
        reason = case when says_any(k.reason, p_phrases) then '[forgotten]' else k.reason end
    where k.tenant_id = p_tenant and (k.state = 'COMPLETED' or k.deleted_at is not null)
      and says_any(concat_ws(' ', k.title, k.action, k.watch, k.output, k.trigger, k.reason), p_phrases);
    return (select count(*)::int from (values
        (exists (select from approvals a where a.tenant_id = p_tenant and says_any(a::text, p_phrases))),
        (exists (select from approval_audit d where d.tenant_id = p_tenant and says_any(d.detail::text, p_phrases))),
        (exists (select from events e where e.tenant_id = p_tenant and says_any(e.data::text, p_phrases))),
        (exists (select from run_notices r where r.tenant_id = p_tenant and says_any(r.text, p_phrases))),
        (exists (select from task_runs r
                 where r.tenant_id = p_tenant and says_any(r.cause::text || r.history::text || r.reason, p_phrases))),
        (exists (select from notifications n
                 where n.tenant_id = p_tenant and says_any(n.title || ' ' || n.text || n.actions::text, p_phrases)))
    ) place (holds) where place.holds);
end $$;

CREATE FUNCTION public.cards_sent(p_tenant text, p_approval text, p_pressed boolean) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    select case
        when bool_or(s.parts > 0 and s.sure >= s.parts) then 'whole'
        -- Its one part may have arrived although its receipt is missing: whoever knows the code has read it.
        when bool_or(s.parts = 1 and s.called) then 'whole'
        when bool_or(s.state in ('sent', 'ambiguous')) then 'not_whole'
        else 'not_sent' end
    from (select o.state, count(e.part) as parts, bool_or(m.called) as called,
                 count(*) filter (where e.state = 'sent' and e.status not in ('undelivered', 'failed'))
                 + count(*) filter (where p_pressed and m.called and e.state <> 'sent' and e.part = (
                     select max(l.part) from outbound_parts l
                     where l.tenant_id = o.tenant_id and l.outbound_id = o.id)) as sure
          from approval_cards c join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
          left join outbound_parts e on e.tenant_id = o.tenant_id and e.outbound_id = o.id
          left join lateral (
              select exists (select 1 from deliveries d where d.tenant_id = e.tenant_id and d.outbound_id = e.outbound_id
                             and d.part = e.part
                             and d.outcome in ('started', 'ambiguous', 'left', 'found', 'accepted')) as called) m on true
          where c.tenant_id = p_tenant and c.approval_id = p_approval and c.role = 'card'
          group by o.tenant_id, o.id) s
$$;

CREATE FUNCTION public.change_address(p_channel text, p_account text, p_old text, p_new text) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    v_row record;
    v_count int := 0;
begin
    for v_row in select * from find_conversations(p_channel, p_account, p_old) loop
        perform set_config('onevalet.tenant', v_row.tenant_id, true);
        update conversations c set peer = p_new
        where c.tenant_id = v_row.tenant_id and c.id = v_row.conversation_id
          and not exists (
              select 1 from conversations o
              where o.tenant_id = c.tenant_id and o.channel = c.channel and o.account = c.account
                and o.peer = p_new and o.thread = c.thread);
        v_count := v_count + 1;
    end loop;
    return v_count;
end $$;

CREATE FUNCTION public.change_member(p_owner text, p_name text, p_member text, p_in boolean) RETURNS TABLE(shared_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.change_pool_entry(p_tenant text, p_agent text, p_change text) RETURNS TABLE(changed boolean, lane_id text)
    LANGUAGE plpgsql
    AS $$
declare
    v_turn text;
    v_lane text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select e.turn_id, t.lane_id into v_turn, v_lane from pool_entries e
    join turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
    where e.tenant_id = p_tenant and e.agent_id = p_agent;
    perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_lane for update;
    update pool_entries e
    set status = case p_change when 'pause' then 'PAUSED' when 'resume' then 'WAITING_FOR_INPUT' else 'CANCELLED' end,
        reason = case p_change when 'cancel' then 'cancelled' else '' end,
        -- Without its question: it is asked again.
        context = case p_change when 'resume' then e.context || '{"question": ""}' else e.context end,
        revision = e.revision + 1, updated_at = clock_timestamp()
    where e.tenant_id = p_tenant and e.agent_id = p_agent
      and case p_change when 'pause' then e.status = 'WAITING_FOR_INPUT' when 'resume' then e.status = 'PAUSED'
                        when 'cancel' then e.status not in ('CANCELLED', 'COMPLETED') else false end;
    if not found then
        return query select false, null::text;
    elsif p_change = 'pause' then
        return query select true, null::text;
    else
        return query select true, wake_turn(p_tenant, v_turn);
    end if;
end $$;

CREATE FUNCTION public.change_reachability(p_channel text, p_account text, p_user_key text, p_state text, p_reason text, p_keys text[], p_reply text, p_outbound text, p_new_conversation text, p_said_at timestamp with time zone) RETURNS TABLE(changed boolean, conversation_id text)
    LANGUAGE plpgsql
    AS $$
declare
    v_tenant text;
    v_identity text;
    v_me identities%rowtype;
    v_conversation text;
begin
    if cardinality(p_keys) > 0 and not ignore_message(p_channel, p_account, p_keys, p_reason) then
        return query select false, null::text;
        return;
    end if;
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    if v_tenant is null then
        insert into consents (channel, account, user_key, state, how)
        select p_channel, p_account, p_user_key, p_state, p_reason
        where p_state is distinct from coalesce(
            (select f.state from find_consent(p_channel, p_account, p_user_key) f), 'active')
          and not exists (select from find_consent(p_channel, p_account, p_user_key) f
                          where f.since > p_said_at + case when p_state = 'active' then interval '0'
                                                           else interval '10 seconds' end);
        return query select false, null::text;
        return;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    select * into v_me from identities i where i.tenant_id = v_tenant and i.id = v_identity for update;
    if v_me.state_at > p_said_at + (case when p_state = 'active' then interval '0' else interval '10 seconds' end)
       and v_me.state_reason <> '' then
        return query select false, null::text;
        return;
    end if;
    update identities i set state = p_state, state_reason = p_reason,
        state_at = coalesce(p_said_at, clock_timestamp())
    where i.tenant_id = v_tenant and i.id = v_identity;
    if v_me.state = p_state then
        return query select false, null::text;
        return;
    end if;
    if p_reply <> '' and not exists (
            select 1 from count_consents(p_channel, p_account, p_user_key, interval '1 hour') k
            where case when p_state = 'active' then k.starts else k.stops end > 5) then
        v_conversation := open_conversation(
            v_tenant, v_identity, p_channel, p_account, p_user_key, '', p_new_conversation);
        perform owe(v_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
            'id', p_outbound, 'kind', 'receipt', 'text', p_reply, 'regardless', true)));
    end if;
    return query select true, v_conversation;
end $$;

CREATE FUNCTION public.change_task(p_tenant text, p_task text, p_change text, p_now timestamp with time zone, p_due timestamp with time zone, p_next timestamp with time zone, p_zone text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_run record;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tasks t
    set state = case p_change when 'pause' then 'PAUSED' when 'resume' then 'ACTIVE' else 'COMPLETED' end,
        reason = case p_change when 'delete' then 'stopped by the person' else '' end,
        failures = case p_change when 'resume' then 0 else t.failures end,
        due_at = p_due, next_at = p_next, zone = p_zone, rezone = false, revision = t.revision + 1,
        deleted_at = case p_change when 'delete' then p_now end
    where t.tenant_id = p_tenant and t.id = p_task and t.deleted_at is null
      and case p_change when 'pause' then t.state = 'ACTIVE' when 'resume' then t.state in ('PAUSED', 'DISABLED')
                        when 'delete' then true else false end;
    if not found then
        return false;
    end if;
    if p_change = 'delete' then
        for v_run in select r.id, r.turn_id from task_runs r
                     where r.tenant_id = p_tenant and r.task_id = p_task and r.state in ('QUEUED', 'PENDING_APPROVAL')
        loop
            perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_run.id for update;
            update turns t set state = 'done', reason = 'task stopped', ready = false, finished_at = clock_timestamp()
            where t.tenant_id = p_tenant and t.id = v_run.turn_id and t.state = 'waiting';
            if found then
                delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = v_run.turn_id;
                update task_runs r set state = 'CANCELLED', reason = 'task stopped', finished_at = clock_timestamp()
                where r.tenant_id = p_tenant and r.id = v_run.id;
            end if;
        end loop;
    end if;
    return true;
end $$;

CREATE FUNCTION public.check_confirm(p_tenant text, p_approval text, p_given text, p_fresh text, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_row approvals%rowtype;
begin
    select * into v_row from approvals a where a.tenant_id = p_tenant and a.id = p_approval for update;
    if p_given <> '' and v_row.confirm_hash is not null and v_row.confirm_until > p_now then
        update approvals a set confirm_tries = a.confirm_tries + 1
        where a.tenant_id = p_tenant and a.id = p_approval;
        if v_row.confirm_tries >= 5 then
            update approvals a set confirm_hash = null where a.tenant_id = p_tenant and a.id = p_approval;
            return 'too_many';
        end if;
        return case when v_row.confirm_hash = sha256(convert_to(p_approval || ':' || p_given, 'UTF8'))
                    then 'go' else 'wrong' end;
    end if;
    if v_row.confirm_sent >= 3 or v_row.confirm_tries >= 10 then
        return 'too_many';
    end if;
    update approvals a
    set confirm_hash = sha256(convert_to(p_approval || ':' || p_fresh, 'UTF8')), confirm_until = p_now + interval '10 minutes',
        confirm_tries = case when a.confirm_tries > 5 then a.confirm_tries else 0 end, confirm_sent = a.confirm_sent + 1
    where a.tenant_id = p_tenant and a.id = p_approval;
    return 'confirm';
end $$;

CREATE FUNCTION public.claim_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval) RETURNS TABLE(since timestamp with time zone, began timestamp with time zone, place text)
    LANGUAGE sql
    AS $$
    insert into channel_state as s (channel, account, sweep_owner, sweep_until, sweep_began)
    values (p_channel, p_account, p_owner, clock_timestamp() + p_ttl, clock_timestamp())
    on conflict (channel, account) do update
    set sweep_owner = excluded.sweep_owner, sweep_until = excluded.sweep_until,
        sweep_began = coalesce(s.sweep_began, excluded.sweep_began)
    where s.sweep_owner = excluded.sweep_owner or s.sweep_owner is null or s.sweep_until < clock_timestamp()
    returning s.watermark, s.sweep_began, s.sweep_place
$$;

CREATE FUNCTION public.claim_due_tasks(p_now timestamp with time zone, p_most integer) RETURNS TABLE(tenant_id text, task_id text, kind text, due_at timestamp with time zone, schedule jsonb, person_zone text, channel text, anchor timestamp with time zone, fired integer, rezone boolean, revision integer)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select t.tenant_id, t.id, t.kind, t.due_at, case t.kind when 'schedule' then t.trigger else '{}' end, p.timezone,
           coalesce(t.output ->> 'channel', ''), t.anchor, t.fired, t.rezone, t.revision
    from tasks t join tenants p on p.tenant_id = t.tenant_id
    where t.state = 'ACTIVE' and not t.held and t.next_at <= p_now
    order by t.next_at limit p_most
    for update of t skip locked
$$;

CREATE FUNCTION public.claim_event(p_tenant text, p_source text, p_id text, p_group text, p_owner text, p_ttl interval) RETURNS TABLE(type text, data jsonb, occurred_at timestamp with time zone, attempts integer)
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query update event_work w
    set attempts = w.attempts + (case when w.owner is not distinct from p_owner then 0 else 1 end),
        owner = p_owner, lease_until = clock_timestamp() + p_ttl
    from events e
    where w.tenant_id = p_tenant and w.source = p_source and w.event_id = p_id and w.group_name = p_group
      and w.state = 'waiting' and w.next_attempt_at <= clock_timestamp()
      and (w.lease_until is null or w.lease_until < clock_timestamp() or w.owner = p_owner)
      and e.tenant_id = w.tenant_id and e.source = w.source and e.id = w.event_id
    returning e.type, e.data, e.occurred_at, w.attempts;
end $$;

CREATE FUNCTION public.claim_lane(p_lane text, p_owner text, p_ttl interval, p_most integer, p_suspects text) RETURNS TABLE(tenant_id text, lane_id text, fence bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_me text := process_of(p_owner);
    v_tenant text;
    v_lane text;
    v_quiet boolean := false;
    v_waits boolean := false;
begin
    return query select l.tenant_id, l.id, l.fence from lanes l
    where l.owner = p_owner and l.lease_until > clock_timestamp();
    if found then
        return;
    end if;
    perform judge_lapsed(v_me, p_ttl);
    if exists (select 1 from turns t where t.state = 'running' and t.suspect) then
        -- Claims of one process wait for each other here: what two look at at once would look quiet to both.
        perform pg_advisory_xact_lock(hashtextextended('suspects of ' || v_me, 0));
        if suspect_begun(v_me) then
            return;
        end if;
        v_quiet := p_suspects = 'only' or process_quiet(v_me);
        v_waits := p_suspects = 'here' and suspect_waits(p_most, interval '2 seconds', interval '12 seconds');
    end if;
    select l.tenant_id, l.id into v_tenant, v_lane from lanes l
    where l.pending and (p_lane is null or l.id = p_lane)
      and l.owner is null
      and (l.not_before is null or l.not_before <= clock_timestamp())
      and (select count(*) from lanes o where o.tenant_id = l.tenant_id and o.lease_until > clock_timestamp()) < p_most
      and coalesce(
          (select case p_suspects
                      when 'apart' then v_quiet and l.not_before <= clock_timestamp() - interval '10 seconds'
                      else v_quiet or t.deaths <= 3 and l.not_before <= clock_timestamp() - interval '8 seconds' end
           from turns t where t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running' and t.suspect),
          p_suspects <> 'only' and not v_waits)
    order by l.pending_since limit 1 for update skip locked;
    if v_lane is null then
        return;
    end if;
    return query update lanes l
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, fence = l.fence + 1
    where l.tenant_id = v_tenant and l.id = v_lane
    returning l.tenant_id, l.id, l.fence;
end $$;

CREATE FUNCTION public.claim_memory_job(p_id text, p_owner text, p_lease interval) RETURNS TABLE(tenant_id text, id text, attempts integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    return query
    with free as materialized (
        select m.tenant_id, m.id from memory_jobs m
        where (p_id is null or m.id = p_id) and m.not_before <= clock_timestamp()
          and (m.lease_until is null or m.lease_until < clock_timestamp())
        order by m.not_before limit 1 for update skip locked)
    update memory_jobs j
    set owner = p_owner, lease_until = clock_timestamp() + p_lease, attempts = j.attempts + 1,
        not_before = clock_timestamp() + make_interval(secs => least(5 * power(4, least(j.attempts, 10)), 3600))
    from free
    where j.tenant_id = free.tenant_id and j.id = free.id
    returning j.tenant_id, j.id, j.attempts;
end $$;

CREATE FUNCTION public.claim_notices(p_most integer, p_lease interval) RETURNS TABLE(tenant_id text, run_id text, key text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    return query
    with due as materialized (
        select d.tenant_id, d.run_id, d.key from run_notices d
        where d.state = 'open' and d.next_attempt_at <= clock_timestamp()
        order by d.next_attempt_at limit p_most for update skip locked)
    update run_notices n set next_attempt_at = clock_timestamp() + p_lease, attempts = n.attempts + 1
    from due
    where n.tenant_id = due.tenant_id and n.run_id = due.run_id and n.key = due.key
    returning n.tenant_id, n.run_id, n.key;
end $$;

CREATE FUNCTION public.claim_outbound(p_conversation text, p_owner text, p_ttl interval) RETURNS TABLE(tenant_id text, outbound_id text, conversation_id text, fence bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_tenant text;
    v_id text;
begin
    return query select o.tenant_id, o.id, o.conversation_id, o.fence from outbound o
    where o.owner = p_owner and o.lease_until > clock_timestamp() and o.state in ('ready', 'sending', 'checking');
    if found then
        return;
    end if;
    select o.tenant_id, o.id into v_tenant, v_id from outbound o
    where o.state in ('ready', 'sending', 'checking')
      and (p_conversation is null or o.conversation_id = p_conversation)
      and o.next_attempt_at <= clock_timestamp()
      and (o.lease_until is null or o.lease_until < clock_timestamp())
      and not exists (
          select 1 from outbound e
          where e.tenant_id = o.tenant_id and e.conversation_id = o.conversation_id and e.seq < o.seq
            and e.state in ('ready', 'sending', 'checking')
            and (e.unknown_since is null or e.unknown_since > clock_timestamp() - unknown_blocks()))
    order by o.next_attempt_at limit 1 for update skip locked;
    if v_id is null then
        return;
    end if;
    return query update outbound o
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, fence = o.fence + 1,
        state = case when o.state = 'ready' then 'sending' else o.state end
    where o.tenant_id = v_tenant and o.id = v_id
    returning o.tenant_id, o.id, o.conversation_id, o.fence;
end $$;

CREATE FUNCTION public.claim_poll(p_channel text, p_account text, p_owner text, p_ttl interval) RETURNS TABLE(next_offset bigint)
    LANGUAGE sql
    AS $$
    insert into channel_state as s (channel, account, owner, lease_until)
    values (p_channel, p_account, p_owner, clock_timestamp() + p_ttl)
    on conflict (channel, account) do update
    set owner = excluded.owner, lease_until = excluded.lease_until
    where s.owner = excluded.owner or s.owner is null or s.lease_until is null
       or s.lease_until < clock_timestamp()
    returning coalesce(s.poll_offset, 0)
$$;

CREATE FUNCTION public.claim_profile(p_owner text, p_ttl interval, p_most integer) RETURNS TABLE(tenant_id text, turn_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
    return query
    with due as materialized (
        select d.tenant_id, d.turn_id from profile_jobs d
        where d.tenant_id = v_tenant and (d.lease_until is null or d.lease_until < clock_timestamp())
        order by d.not_before limit p_most for update skip locked)
    update profile_jobs j
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, attempts = j.attempts + 1
    from due where j.tenant_id = due.tenant_id and j.turn_id = due.turn_id
    returning j.tenant_id, j.turn_id;
end $$;

CREATE FUNCTION public.claim_redraw(p_ttl interval) RETURNS TABLE(tenant_id text, outbound_id text, fence bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    return query
    with due as materialized (
        select d.tenant_id, d.outbound_id from redraws d
        join outbound o on o.tenant_id = d.tenant_id and o.id = d.outbound_id
        where d.state = 'due' and d.next_attempt_at <= clock_timestamp()
          and (d.lease_until is null or d.lease_until < clock_timestamp())
          and o.state in ('sent', 'ambiguous', 'failed')
        order by d.next_attempt_at limit 1 for update of d skip locked)
    update redraws r set lease_until = clock_timestamp() + p_ttl, fence = r.fence + 1, attempts = r.attempts + 1
    from due
    where r.tenant_id = due.tenant_id and r.outbound_id = due.outbound_id
    returning r.tenant_id, r.outbound_id, r.fence;
end $$;

CREATE TABLE public.links (
    tenant_id text NOT NULL,
    id text NOT NULL,
    other_id text NOT NULL,
    other jsonb NOT NULL,
    before jsonb NOT NULL,
    made_at timestamp with time zone NOT NULL,
    linked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.links FORCE ROW LEVEL SECURITY;

CREATE FUNCTION public.claim_since(p_tenant text, p_link public.links) RETURNS void
    LANGUAGE plpgsql
    AS $$
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
           + row_number() over (partition by n.of, case when n.of = 'stored_values' then n.key[1] end order by n.number),
           coalesce(n.key[2], '')
    from (
        select 'stored_values' as of, array[v.collection, v.key] as key, v.number
        from stored_values v where v.tenant_id = p_tenant and v.created_at > p_link.linked_at
        union all select 'tasks', array[t.id], t.number
        from tasks t where t.tenant_id = p_tenant and t.created_at > p_link.made_at
        union all select 'memories', array[m.id], m.number
        from memories m where m.tenant_id = p_tenant and m.created_at > p_link.linked_at and m.turn_id is null
        union all select 'profile_facts', array[f.id], f.number
        from profile_facts f where f.tenant_id = p_tenant and f.since > p_link.made_at and f.turn_id = '') n
    where not exists (select from linked_rows r where r.tenant_id = p_tenant and r.of = n.of and r.key = n.key);
end $$;

CREATE FUNCTION public.close_questions(p_tenant text, p_conversation text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_turn text;
begin
    for v_turn in
        update pool_entries e set status = 'CANCELLED', reason = 'dropped', revision = e.revision + 1
        where e.tenant_id = p_tenant and e.conversation_id = p_conversation
          and e.status in ('WAITING_FOR_INPUT', 'PAUSED')
        returning e.turn_id
    loop
        perform close_waiting_turn(p_tenant, v_turn, 'new session');
    end loop;
end $$;

CREATE FUNCTION public.close_steps(p_tenant text, p_turn text) RETURNS void
    LANGUAGE sql
    AS $$
    update steps s set state = 'done', outcome = 'unknown', finished_at = clock_timestamp()
    where s.tenant_id = p_tenant and s.turn_id = p_turn and s.state = 'started' and s.effect <> 'read'
$$;

CREATE FUNCTION public.close_waiting_turn(p_tenant text, p_turn text, p_reason text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if exists (select 1 from pool_entries e
               where e.tenant_id = p_tenant and e.turn_id = p_turn and e.status not in ('CANCELLED', 'COMPLETED'))
        or exists (select 1 from approvals a where a.tenant_id = p_tenant and a.turn_id = p_turn and a.state = 'pending')
    then
        return;
    end if;
    update turns t set state = 'done', reason = p_reason, finished_at = clock_timestamp()
    where t.tenant_id = p_tenant and t.id = p_turn and t.state = 'waiting';
    if found then
        delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = p_turn;
    end if;
end $$;

CREATE FUNCTION public.count_belongings(p_kept text, p_gone text, p_tables text[]) RETURNS TABLE(counts jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
declare
    v_table text;
    v_gone bigint;
    v_kept bigint;
begin
    counts := '{}';
    foreach v_table in array p_tables loop
        -- Commands say nothing about anybody.
        execute format('select count(*) filter (where tenant_id = $1), count(*) filter (where tenant_id = $2) from %I'
                       ' where tenant_id in ($1, $2) %s', v_table,
                       case when v_table = 'inbound' then 'and command is null and text <> ''''' else '' end)
        into v_gone, v_kept using p_gone, p_kept;
        if v_gone + v_kept > 0 then
            counts := counts || jsonb_build_object(v_table, jsonb_build_array(v_gone, v_kept));
        end if;
    end loop;
    return next;
end $_$;

CREATE FUNCTION public.count_consents(p_channel text, p_account text, p_user_key text, p_within interval) RETURNS TABLE(stops bigint, starts bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select count(*) filter (where c.state = 'stopped'), count(*) filter (where c.state = 'active')
    from consents c
    where c.channel = p_channel and c.account = p_account and c.user_key = p_user_key
      and c.at > clock_timestamp() - p_within
$$;

CREATE FUNCTION public.count_delayed(p_after interval) RETURNS TABLE(channel text, account text, conversations bigint, since timestamp with time zone, next_try timestamp with time zone, reasons text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select c.channel, c.account, count(distinct c.id), min(d.first), min(o.next_attempt_at),
           string_agg(distinct nullif(o.reason, ''), '; ')
    from outbound o
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    join lateral (select min(x.started_at) as first from deliveries x
                  where x.tenant_id = o.tenant_id and x.outbound_id = o.id) d on d.first < clock_timestamp() - p_after
    where o.state in ('ready', 'sending', 'checking')
    group by c.channel, c.account order by 1, 2
$$;

CREATE FUNCTION public.count_event_runs(p_tenant text, p_task text, p_within interval) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return (select count(*) from task_runs r where r.tenant_id = p_tenant and r.task_id = p_task
            and r.created_at > clock_timestamp() - p_within and r.state <> 'SKIPPED');
end $$;

CREATE FUNCTION public.count_given_up(p_within interval) RETURNS TABLE(given_up bigint, told bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select count(*), count(o.told_missing_by) from outbound o
    where o.given_up_at > clock_timestamp() - p_within and o.state in ('ambiguous', 'failed')
$$;

CREATE FUNCTION public.count_lost_answers(p_within interval) RETURNS TABLE(lost bigint, found bigint, told bigint, resent bigint, left_alone bigint, still_open bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select count(*), count(*) filter (where w.how = 'found'), count(*) filter (where w.how = 'told'),
           count(*) filter (where w.how = 'resent'), count(*) filter (where w.how = 'left'),
           count(*) filter (where w.how = 'open')
    from (select case
              when d.outcome in ('found', 'left') then d.outcome
              when exists (select 1 from deliveries n where n.tenant_id = d.tenant_id and n.outbound_id = d.outbound_id
                           and n.part = d.part and n.attempt > d.attempt) then 'resent'
              when e.state = 'sent' then 'told'
              when e.state = 'ambiguous' then 'left'
              else 'open' end as how
          from deliveries d join outbound_parts e
              on e.tenant_id = d.tenant_id and e.outbound_id = d.outbound_id and e.part = d.part
          where d.outcome in ('ambiguous', 'found', 'left')
            and d.finished_at > clock_timestamp() - p_within) w
$$;

CREATE FUNCTION public.count_refused(OUT memory_jobs bigint, OUT redraws bigint) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select (select count(*) from memory_jobs j where j.not_before = 'infinity'),
           (select count(*) from redraws r where r.state = 'given_up')
$$;

CREATE FUNCTION public.count_set_aside() RETURNS TABLE(tasks bigint, notices bigint, events bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select (select count(*) from tasks t where t.set_aside <> ''),
           (select count(*) from run_notices n where n.state = 'failed'),
           (select count(*) from event_work w where w.state = 'poison')
$$;

CREATE FUNCTION public.count_waiting(p_most integer) RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select count(*)::int from (select 1 from inbound i where i.state = 'waiting' limit p_most + 1) w
$$;

CREATE FUNCTION public.count_work() RETURNS TABLE(waiting_messages bigint, running_turns bigint, open_outbound bigint, ambiguous bigint, failed bigint, poison bigint, oldest_waiting timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select (select count(*) from inbound where state = 'waiting'),
           (select count(*) from turns where state = 'running'),
           (select count(*) from outbound where state in ('ready', 'sending', 'checking')),
           (select count(*) from outbound where state = 'ambiguous'),
           (select count(*) from outbound where state = 'failed'),
           (select count(*) from turns where state = 'poison'),
           (select min(received_at) from inbound where state = 'waiting')
$$;

CREATE FUNCTION public.cut_across(p_tenant text, p_other text) RETURNS void
    LANGUAGE plpgsql
    AS $_$
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
        if v_key.empties is null then
            execute format('delete from %s c where %s', v_key.of, v_across) using p_tenant, p_other;
        else
            execute format('update %s c set (%s) = row(%s) where %s', v_key.of, v_key.empties,
                           regexp_replace(v_key.empties, '[^, ]+', 'null', 'g'), v_across) using p_tenant, p_other;
        end if;
    end loop;
end $_$;

CREATE FUNCTION public.decide_approval(p_tenant text, p_approval text, p_state text, p_identity text, p_channel text, p_how text, p_now timestamp with time zone, p_proposed jsonb, p_outcome text, p_said_in text, OUT decided boolean, OUT lane_id text) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
    v_turn text;
    v_identity text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select a.turn_id into v_turn from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    -- The lane first, as whoever finishes the turn locks them.
    perform hold_turn(p_tenant, v_turn);
    select coalesce(nullif(p_identity, ''), (
        select c.identity_id from inbound i
        join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id
        where i.tenant_id = p_tenant and i.id = p_said_in), '') into v_identity;
    perform start_approval(p_tenant, p_approval, p_now);
    update approvals a
    set state = p_state, proposed = case when p_state = 'replaced' then p_proposed end, decided_at = p_now,
        decided_by = v_identity, decided_channel = p_channel, decided_how = p_how, confirm_hash = null
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending' and a.expires_at > p_now
      and (p_state <> 'approved' or a.hash = approval_hash(a.sealed_head, a.expires_at, a.sealed_tail))
      and exists (select 1 from turns t where t.tenant_id = p_tenant and t.id = v_turn and t.state in ('waiting', 'running'));
    decided := found;
    if decided then
        perform audit_approval(p_tenant, p_approval, p_now, p_state, v_identity, p_channel, p_how,
                               coalesce(p_proposed, '{}'));
        perform draw_outcome(p_tenant, p_approval, p_outcome, p_now);
        lane_id := wake_turn(p_tenant, v_turn);
    end if;
end $$;

CREATE FUNCTION public.decided_before(p_tenant text, p_inbound text, p_label text) RETURNS TABLE(conversation_id text, outcome text, approval_turn text, woken text[])
    LANGUAGE sql STABLE
    AS $$
    select i.conversation_id, substr(i.reason, length(p_label) + 1), i.turn_id,
           coalesce(array(select t.lane_id from turns t
                          where t.tenant_id = p_tenant and t.id = i.turn_id and t.ready), '{}')
    from inbound i where i.tenant_id = p_tenant and i.id = p_inbound and starts_with(i.reason, p_label)
$$;

CREATE FUNCTION public.delete_credentials(p_tenant text, p_service text, p_account text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from credentials c
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account;
end $$;

CREATE FUNCTION public.delete_value(p_tenant text, p_collection text, p_key text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from stored_values v where v.tenant_id = p_tenant and v.collection = p_collection and v.key = p_key;
end $$;

CREATE FUNCTION public.draw_outcome(p_tenant text, p_approval text, p_outcome text, p_now timestamp with time zone) RETURNS void
    LANGUAGE sql
    AS $$
    insert into redraws as r (tenant_id, outbound_id, outcome)
    select c.tenant_id, c.outbound_id, replace(p_outcome, '{when}', told_time(p_tenant, p_now))
    from approval_cards c where c.tenant_id = p_tenant and c.approval_id = p_approval and c.role = 'card'
    on conflict on constraint redraws_pkey do update
    set outcome = excluded.outcome, state = 'due', attempts = 0, next_attempt_at = clock_timestamp()
$$;

CREATE FUNCTION public.drop_event_group(p_name text, p_pattern text) RETURNS TABLE(group_name text, dropped bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    delete from event_groups g where g.name = p_name and g.pattern = p_pattern;
    return query with gone as (
        delete from event_work w where w.group_name = p_name and w.state = 'waiting'
          and not exists (select 1 from event_groups g where g.name = p_name)
        returning 1)
    select p_name, count(*) from gone;
end $$;

CREATE FUNCTION public.drop_ignored(p_before timestamp with time zone, p_most integer) RETURNS TABLE(messages bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    delete from ignored_messages g using (
        select i.channel, i.account, i.key from ignored_messages i where i.received_at < p_before
        and i.key not like 'said:%' limit p_most) old
    where g.channel = old.channel and g.account = old.account and g.key = old.key;
    get diagnostics messages = row_count;
    return next;
end $$;

CREATE FUNCTION public.drop_link_codes(p_now timestamp with time zone) RETURNS TABLE(codes bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.drop_strangers(p_now timestamp with time zone) RETURNS TABLE(strangers bigint, codes bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.drop_unknown(p_before timestamp with time zone) RETURNS TABLE(messages bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    delete from ignored_messages g where g.reason = 'unknown' and g.received_at < p_before;
    get diagnostics messages = row_count;
    return next;
end $$;

CREATE FUNCTION public.due_reminders(p_now timestamp with time zone, p_most integer) RETURNS TABLE(tenant_id text, approval_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select a.tenant_id, a.id from approvals a
    where a.state = 'pending' and a.remind_at <= p_now and a.expires_at > p_now
    order by a.remind_at limit p_most
$$;

CREATE FUNCTION public.end_catch_up(p_channel text, p_account text, p_owner text, p_began timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    update channel_state s
    set watermark = greatest(coalesce(s.watermark, p_began), p_began), sweep_owner = null, sweep_until = null,
        sweep_began = null, sweep_place = ''
    where s.channel = p_channel and s.account = p_account and s.sweep_owner = p_owner;
    return found;
end $$;

CREATE FUNCTION public.end_delivery(p_tenant text, p_outbound text, p_fence bigint, p_part integer, p_attempt integer, p_part_state text, p_outcome text, p_error_code text, p_reason text, p_provider_id text, p_degraded boolean, p_delay interval, p_identity_state text) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_state text;
    v_before text;
    v_conversation text;
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        select o.state into v_state from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
        return v_state;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    select d.outcome into v_before from deliveries d
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
    update deliveries d
    set finished_at = clock_timestamp(), outcome = p_outcome, error_code = p_error_code, provider_id = p_provider_id
    where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
    -- A callback that carried our ref may have resolved the part already: that knowledge is never undone.
    update outbound_parts e
    set state = case when e.state = 'sent' then 'sent' else p_part_state end,
        provider_id = case when p_provider_id <> '' then p_provider_id else e.provider_id end,
        degraded = e.degraded or p_degraded,
        error_code = case when p_part_state = 'sent' then '' else p_error_code end,
        sent_at = case when p_part_state = 'sent' then coalesce(e.sent_at, clock_timestamp()) else e.sent_at end
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound and e.part = p_part
    returning e.state into v_state;
    if v_state not in ('failed', 'ready', 'checking') then
        v_state := outbound_state(p_tenant, p_outbound);
    end if;
    update outbound o
    set state = v_state,
        reason = case when v_state = 'sent' then '' when p_reason <> '' then p_reason else o.reason end,
        ambiguities = o.ambiguities
            + (case when v_before = 'started' and p_outcome in ('ambiguous', 'found', 'left') then 1 else 0 end),
        next_attempt_at = case when v_state in ('ready', 'checking') then clock_timestamp() + p_delay
                               else o.next_attempt_at end,
        -- A part that waits for its next try may still have an earlier call whose outcome is unknown.
        unknown_since = case when v_state = 'checking' then coalesce(o.unknown_since, clock_timestamp())
                             when v_state = 'ready' then o.unknown_since end,
        given_up_at = case when p_outcome in ('left', 'gave_up') or p_part_state = 'ambiguous' then clock_timestamp()
                           else o.given_up_at end,
        owner = case when v_state = 'sending' then o.owner end,
        lease_until = case when v_state = 'sending' then o.lease_until end,
        sent_at = case when v_state = 'sent' then clock_timestamp() else o.sent_at end
    where o.tenant_id = p_tenant and o.id = p_outbound
    returning o.conversation_id into v_conversation;
    if p_identity_state <> '' then
        update identities i
        set state = p_identity_state, state_reason = btrim(p_outcome || ' ' || p_error_code),
            state_at = clock_timestamp()
        from conversations c
        where c.tenant_id = p_tenant and c.id = v_conversation
          and i.tenant_id = c.tenant_id and i.id = c.identity_id and i.state = 'active';
    end if;
    if p_part_state = 'sent' then
        perform mark_channel(c.channel, c.account, false) from conversations c
        where c.tenant_id = p_tenant and c.id = v_conversation;
    end if;
    return v_state;
end $$;

CREATE FUNCTION public.end_event(p_tenant text, p_source text, p_id text, p_group text, p_owner text, p_state text, p_reason text, p_delay interval) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update event_work w
    set state = p_state, reason = p_reason, owner = null, lease_until = null,
        attempts = w.attempts - (case when p_state = 'waiting' and p_reason = '' then 1 else 0 end),
        next_attempt_at = clock_timestamp() + p_delay, streamed_at = '-infinity',
        ended_at = case when p_state <> 'waiting' then clock_timestamp() end
    where w.tenant_id = p_tenant and w.source = p_source and w.event_id = p_id and w.group_name = p_group
      and w.owner = p_owner and w.state = 'waiting';
    return found;
end $$;

CREATE FUNCTION public.end_leases(p_worker text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$ select end_leases(p_worker, null) $$;

CREATE FUNCTION public.end_leases(p_worker text, p_hung text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    update outbound set hangs = hangs + 1 where id = p_hung;
    perform judge_dead(d.process, p_hung) from (
        select distinct process_of(l.owner) as process from lanes l
        where l.owner is not null and starts_with(l.owner, p_worker || '/')) d;
    update outbound set lease_until = clock_timestamp()
    where lease_until > clock_timestamp() and starts_with(owner, p_worker || '/');
    update channel_state set sweep_until = clock_timestamp()
    where sweep_until > clock_timestamp() and (sweep_owner = p_worker or starts_with(sweep_owner, p_worker || '/'));
end $$;

CREATE FUNCTION public.end_profile(p_tenant text, p_owner text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from profile_jobs j where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;

CREATE FUNCTION public.end_redraw(p_tenant text, p_outbound text, p_fence bigint, p_outcome text, p_state text, p_reason text, p_delay interval) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- What is to be drawn may have changed meanwhile: then it is due again.
    update redraws r
    set state = case when r.outcome = p_outcome then p_state else 'due' end, reason = p_reason, lease_until = null,
        next_attempt_at = clock_timestamp() + case when r.outcome = p_outcome then p_delay else interval '0' end,
        drawn_at = case when p_state = 'drawn' then clock_timestamp() else r.drawn_at end
    where r.tenant_id = p_tenant and r.outbound_id = p_outbound and r.fence = p_fence and r.state = 'due';
end $$;

CREATE FUNCTION public.end_stream(p_tenant text, p_outbound text, p_fence bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound) then
        perform hold_outbound(p_tenant, p_outbound, p_fence);
        delete from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    end if;
end $$;

CREATE FUNCTION public.end_unpaid(p_tenant text, p_outbound text, p_fence bigint, p_day date, p_why text, p_over text, p_moved text, p_notice text, p_copy text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_row outbound%rowtype;
    v_other text;
    v_shows text;
    v_shown_in text;
    v_first boolean;
begin
    select o.* into v_row from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    select other_conversation(p_tenant, c.channel) into v_other from conversations c
    where c.tenant_id = p_tenant and c.id = v_row.conversation_id;
    select k.approval_id into v_shows from approval_cards k
    where k.tenant_id = p_tenant and k.outbound_id = p_outbound;
    select o.conversation_id into v_shown_in from approval_cards k
    join outbound o on o.tenant_id = k.tenant_id and o.id = k.outbound_id
    where v_row.kind = 'card' and k.tenant_id = p_tenant and k.approval_id = v_shows and k.role = 'card'
      and o.conversation_id <> v_row.conversation_id and o.state <> 'failed'
    limit 1;
    v_other := coalesce(v_shown_in, v_other);
    if v_other is not null and v_shown_in is null then
        perform owe(p_tenant, v_other, v_row.turn_id, jsonb_build_array(jsonb_build_object(
            'id', p_copy, 'kind', v_row.kind, 'text', v_row.text, 'actions', v_row.actions, 'media', v_row.media,
            'wants_reply', v_row.wants_reply, 'shows', coalesce(v_shows, ''))));
    end if;
    if v_other is not null and v_row.kind = 'card' then
        update approvals a set conversation_id = v_other
        where a.tenant_id = p_tenant and a.id = v_shows and a.state = 'pending';
    end if;
    perform fail_outbound(p_tenant, p_outbound, p_fence,
                          p_why || case when v_other is null then '' else '; sent to another place' end);
    update segment_days s set told = true where s.tenant_id = p_tenant and s.day = p_day and not s.told
    returning true into v_first;
    if v_first then
        perform owe(p_tenant, v_row.conversation_id, null, jsonb_build_array(jsonb_build_object(
            'id', p_notice, 'kind', 'notification', 'text', case when v_other is null then p_over else p_moved end)));
    end if;
end $$;

CREATE FUNCTION public.event_source_keys(p_since timestamp with time zone) RETURNS TABLE(source_id text, bearer_key bytea, created_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select s.id, coalesce(sha256(s.secret_hash), ''), s.created_at from event_sources s where s.created_at >= p_since
$$;

CREATE FUNCTION public.expire_approvals(p_now timestamp with time zone, p_outcome text, p_most integer) RETURNS TABLE(tenant_id text, approval_id text, lane_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_row record;
begin
    for v_row in
        select a.tenant_id, a.id, a.turn_id, t.lane_id from approvals a
        join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
        where a.state = 'pending' and (a.expires_at <= p_now or t.state not in ('running', 'waiting'))
        order by a.expires_at limit p_most
    loop
        perform 1 from lanes l where l.tenant_id = v_row.tenant_id and l.id = v_row.lane_id for update skip locked;
        continue when not found;
        update approvals a set state = 'expired', decided_at = p_now, confirm_hash = null,
            decided_how = case when a.expires_at <= p_now then 'expiry' else 'its turn ended' end
        where a.tenant_id = v_row.tenant_id and a.id = v_row.id and a.state = 'pending'
          and (a.expires_at <= p_now or exists (select 1 from turns t where t.tenant_id = v_row.tenant_id
               and t.id = v_row.turn_id and t.state not in ('running', 'waiting')));
        if found then
            perform audit_approval(v_row.tenant_id, v_row.id, p_now, 'expired', '', '', 'expiry', '{}');
            perform draw_outcome(v_row.tenant_id, v_row.id, p_outcome, p_now);
            return query select v_row.tenant_id, v_row.id, wake_turn(v_row.tenant_id, v_row.turn_id);
        end if;
    end loop;
end $$;

CREATE FUNCTION public.expire_pool(p_now timestamp with time zone, p_most integer) RETURNS TABLE(tenant_id text, lane_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_entry record;
begin
    for v_entry in
        select e.tenant_id, e.agent_id, e.turn_id, t.lane_id from pool_entries e
        join turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
        where e.status not in ('CANCELLED', 'COMPLETED', 'WAITING_FOR_APPROVAL') and e.expires_at <= p_now
        order by e.expires_at limit p_most
    loop
        perform 1 from lanes l where l.tenant_id = v_entry.tenant_id and l.id = v_entry.lane_id for update;
        update pool_entries e
        set status = 'CANCELLED', reason = 'expired', revision = e.revision + 1, updated_at = clock_timestamp()
        where e.tenant_id = v_entry.tenant_id and e.agent_id = v_entry.agent_id
          and e.status not in ('CANCELLED', 'COMPLETED', 'WAITING_FOR_APPROVAL') and e.expires_at <= p_now;
        if found then
            perform wake_turn(v_entry.tenant_id, v_entry.turn_id);
            return query select v_entry.tenant_id, v_entry.lane_id;
        end if;
    end loop;
end $$;

CREATE FUNCTION public.fail_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set state = 'failed', reason = p_reason, owner = null, lease_until = null
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

CREATE FUNCTION public.fail_turn(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_reason text, p_absorbed text[], p_outbound text, p_text text, p_begun_text text, p_run_text text, p_run_begun_text text, p_most_failures integer, p_disabled text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_conversation text;
    v_turn turns%rowtype;
    v_begun boolean;
    v_text text;
    v_more boolean;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.conversation_id into v_conversation from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    if lane_let_go(p_tenant, p_lane, p_fence) then
        return false;
    end if;
    perform hold_lane(p_tenant, p_lane, p_fence);
    select * into v_turn from turns t
    where t.tenant_id = p_tenant and t.lane_id = p_lane
      and case when p_turn is null then t.state = 'running' or t.state = 'waiting' and t.ready
               else t.id = p_turn and t.state = 'running' end
    order by t.state, t.started_at limit 1;
    v_begun := turn_took_effect(p_tenant, v_turn.id);
    v_text := case when v_begun then p_begun_text else p_text end;
    if v_turn.id is not null then
        update turns t set state = 'failed', reason = p_reason, finished_at = clock_timestamp(), fence = p_fence
        where t.tenant_id = p_tenant and t.id = v_turn.id;
        update inbound i set state = 'done', reason = p_reason
        where i.tenant_id = p_tenant and i.turn_id = v_turn.id and i.state = 'taken';
        update inbound i set state = 'done', reason = p_reason, turn_id = v_turn.id
        where i.tenant_id = p_tenant and i.id = any (p_absorbed) and i.state = 'waiting';
        begin
            perform close_steps(p_tenant, v_turn.id);
            delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = v_turn.id;
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'steps or pool of a failed turn stay as they are: %', sqlstate;
        end;
    elsif p_turn is null then
        update inbound i set state = 'done', reason = p_reason
        where i.tenant_id = p_tenant and i.conversation_id = v_conversation and i.state = 'waiting';
    end if;
    if v_conversation is null and v_turn.id is not null then
        begin
            update task_runs r set state = 'RUNNING'
            where r.tenant_id = p_tenant and r.turn_id = v_turn.id and r.state = 'PENDING_APPROVAL';
            perform note_run(p_tenant, v_turn.id, 'FAILED', p_reason, '[]', 'end',
                             case when v_begun then p_run_begun_text else p_run_text end, p_most_failures, p_disabled);
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'a run stays as it is: %', sqlstate;
        end;
    elsif v_turn.id is not null or p_turn is null then
        begin
            perform owe(p_tenant, v_conversation, v_turn.id,
                        jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', v_text)));
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'nobody is told of a failed turn: %', sqlstate;
        end;
        begin
            if v_turn.id is not null then
                perform keep_failure(p_tenant, v_conversation, v_turn.id, v_text);
            end if;
        exception when data_exception or integrity_constraint_violation or program_limit_exceeded
                   or syntax_error_or_access_rule_violation or plpgsql_error then
            raise warning 'a failed turn is not in history: %', sqlstate;
        end;
    end if;
    v_more := exists (select 1 from inbound i where i.tenant_id = p_tenant
                      and i.conversation_id = v_conversation and i.state = 'waiting')
        or exists (select 1 from turns t where t.tenant_id = p_tenant and t.lane_id = p_lane
                   and t.state = 'waiting' and t.ready);
    update lanes l
    set pending = v_more, pending_since = case when v_more then clock_timestamp() end,
        owner = case when v_more then l.owner end, lease_until = case when v_more then l.lease_until end,
        not_before = null
    where l.tenant_id = p_tenant and l.id = p_lane;
    return v_more;
end $$;

CREATE FUNCTION public.find_approval(p_token text) RETURNS TABLE(tenant_id text, approval_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select a.tenant_id, a.id from approvals a where a.token = p_token
$$;

CREATE FUNCTION public.find_consent(p_channel text, p_account text, p_user_key text) RETURNS TABLE(state text, since timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select c.state, c.at from consents c
    where c.channel = p_channel and c.account = p_account and c.user_key = p_user_key
    order by c.id desc limit 1
$$;

CREATE FUNCTION public.find_conversations(p_channel text, p_account text, p_peer text) RETURNS TABLE(tenant_id text, conversation_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select c.tenant_id, c.id from conversations c
    where c.channel = p_channel and c.account = p_account and c.peer = p_peer
$$;

CREATE FUNCTION public.find_data_keys(p_not_under text, p_after_tenant text, p_after_version integer, p_limit integer) RETURNS TABLE(tenant_id text, version integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select d.tenant_id, d.version from data_keys d
    where d.secret_key_id <> p_not_under and (d.tenant_id, d.version) > (p_after_tenant, p_after_version)
    order by d.tenant_id, d.version limit p_limit
$$;

CREATE FUNCTION public.find_delayed(p_after interval, p_limit integer) RETURNS TABLE(tenant_id text, outbound_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select o.tenant_id, o.id from outbound o
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where o.state in ('ready', 'sending', 'checking') and o.kind <> 'notification' and not o.regardless
      and o.delay_told_at is null
      and exists (select 1 from deliveries d where d.tenant_id = o.tenant_id and d.outbound_id = o.id
                  and d.started_at < clock_timestamp() - p_after)
      and not exists (select 1 from outbound e where e.tenant_id = o.tenant_id and e.conversation_id = o.conversation_id
                      and e.delay_told_at > clock_timestamp() - interval '6 hours')
      and exists (select 1 from identities i where i.tenant_id = o.tenant_id and i.state = 'active'
                  and i.admitted <> '' and i.id <> c.identity_id)
    order by o.created_at limit p_limit
$$;

CREATE FUNCTION public.find_event_source(p_source text, p_hash bytea) RETURNS TABLE(tenant_id text, source_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select s.tenant_id, s.id from event_sources s
    where s.id = p_source or (s.secret_hash = p_hash and s.name = p_source)
    order by s.id = p_source desc limit 1
$$;

CREATE FUNCTION public.find_event_work(p_group text, p_after interval, p_limit integer) RETURNS TABLE(tenant_id text, source text, event_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    return query
    with f as materialized (
        select f.tenant_id, f.source, f.event_id from event_work f
        where f.group_name = p_group and f.state = 'waiting' and f.next_attempt_at <= clock_timestamp()
          and f.streamed_at < clock_timestamp() - p_after
          and (f.lease_until is null or f.lease_until < clock_timestamp())
        order by f.next_attempt_at limit p_limit for update skip locked)
    update event_work w set streamed_at = clock_timestamp()
    from f
    where w.tenant_id = f.tenant_id and w.source = f.source and w.event_id = f.event_id and w.group_name = p_group
    returning w.tenant_id, w.source, w.event_id;
end $$;

CREATE FUNCTION public.find_failed_notices(p_most integer) RETURNS TABLE(tenant_id text, notices bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select n.tenant_id, count(*) from run_notices n where n.state = 'failed' group by 1 order by 1 limit p_most
$$;

CREATE FUNCTION public.find_held(p_now timestamp with time zone, p_limit integer) RETURNS TABLE(tenant_id text, held bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select n.tenant_id, count(*) from notifications n
    where n.state = 'held' and n.not_before <= p_now
    group by n.tenant_id order by min(n.not_before) limit p_limit
$$;

CREATE FUNCTION public.find_held(p_now timestamp with time zone, p_limit integer, p_without text[]) RETURNS TABLE(tenant_id text, held bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select n.tenant_id, count(*) from notifications n
    where n.state = 'held' and n.not_before <= p_now and n.tenant_id <> all (p_without)
    group by n.tenant_id order by min(n.not_before) limit p_limit
$$;

CREATE FUNCTION public.find_held_cards(p_limit integer) RETURNS TABLE(tenant_id text, outbound_id text, approval_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select o.tenant_id, o.id, k.approval_id from outbound o
    join approval_cards k on k.tenant_id = o.tenant_id and k.outbound_id = o.id
    join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id and a.state = 'pending'
    where o.state = 'held' limit p_limit
$$;

CREATE FUNCTION public.find_identity(p_channel text, p_account text, p_user_key text) RETURNS TABLE(tenant_id text, identity_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_tenant text;
    v_identity text;
begin
    loop
        select i.tenant_id, i.id into v_tenant, v_identity from identities i
        where i.channel = p_channel and i.account = p_account and i.user_key = p_user_key;
        exit when v_tenant is null;
        perform hold_person(v_tenant, false);
        exit when exists (select from identities i where i.tenant_id = v_tenant and i.id = v_identity
                          and i.channel = p_channel and i.account = p_account and i.user_key = p_user_key);
    end loop;
    if v_tenant is not null then
        return query select v_tenant, v_identity;
    end if;
end $$;

CREATE FUNCTION public.find_link(p_tenant text, p_turn text, p_since timestamp with time zone) RETURNS TABLE(link_id text, other_id text, moves boolean)
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform hold_person(p_tenant, true);
    if exists (select from person_audit a where a.tenant_id = p_tenant and a.turn_id = p_turn and a.what = 'unlinked') then
        return query select '', '', false;  -- this turn did it before, and its worker died
        return;
    end if;
    return query select l.id, l.other_id, exists (
        select from linked_rows r join conversations c on c.tenant_id = r.tenant_id and c.identity_id = r.key[1]
        join turns t on t.tenant_id = c.tenant_id and t.conversation_id = c.id
        where r.tenant_id = p_tenant and r.link_id = l.id and r.of = 'identities' and t.id = p_turn)
    from links l where l.tenant_id = p_tenant and l.made_at > p_since
    order by l.made_at desc, l.linked_at desc limit 1;
end $$;

CREATE FUNCTION public.find_link_code(p_code_hash bytea) RETURNS TABLE(tenant_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select k.tenant_id from link_codes k where k.code_hash = p_code_hash
$$;

CREATE FUNCTION public.find_part(p_channel text, p_account text, p_ref text, p_provider_id text) RETURNS TABLE(tenant_id text, outbound_id text, part integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_tenant text;
    v_held text;
begin
    loop
        select f.tenant_id into v_tenant from look_for_part(p_channel, p_account, p_ref, p_provider_id) f limit 1;
        exit when v_tenant is null or v_tenant = v_held;
        perform hold_person(v_tenant, false);
        v_held := v_tenant;
    end loop;
    return query select * from look_for_part(p_channel, p_account, p_ref, p_provider_id);
end $$;

CREATE FUNCTION public.find_pending(p_code text, p_most integer) RETURNS TABLE(tenant_id text, approval_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select a.tenant_id, a.id from approvals a
    where a.state = 'pending' and (p_code = '' or a.code = p_code) order by a.created_at, a.id limit p_most
$$;

CREATE FUNCTION public.find_received(p_channel text, p_account text, p_keys text[]) RETURNS TABLE(tenant_id text, inbound_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select k.tenant_id, k.inbound_id from inbox_keys k
    where k.channel = p_channel and k.account = p_account and k.key = any (p_keys) limit 1
$$;

CREATE FUNCTION public.find_set_aside(p_most integer) RETURNS TABLE(tenant_id text, task_id text, number integer, cause text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select t.tenant_id, t.id, t.number, t.set_aside from tasks t where t.set_aside <> ''
    order by t.tenant_id, t.number limit p_most
$$;

CREATE FUNCTION public.find_tenants(p_limit integer) RETURNS TABLE(tenant_id text, identities bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select t.tenant_id, (select count(*) from identities i where i.tenant_id = t.tenant_id)
    from tenants t order by t.tenant_id limit p_limit
$$;

CREATE FUNCTION public.find_trace(p_id text) RETURNS TABLE(tenant_id text, turn_id text, inbound_id text, outbound_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select i.tenant_id, i.turn_id, i.id, null::text from inbound i where i.id = p_id
    union all
    select t.tenant_id, t.id, null, null from turns t where t.id = p_id
    union all
    select o.tenant_id, o.turn_id, null, o.id from outbound o where o.id = p_id
    union all
    select e.tenant_id, o.turn_id, null, o.id
    from outbound_parts e join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id
    where e.provider_id = p_id or e.ref = p_id
    union all
    select i.tenant_id, i.turn_id, i.id, null from inbound i where i.provider_id = p_id
    union all
    select k.tenant_id, i.turn_id, k.inbound_id, null
    from inbox_keys k left join inbound i on i.tenant_id = k.tenant_id and i.id = k.inbound_id where k.key = p_id
    limit 1
$$;

CREATE FUNCTION public.find_undelivered(p_now timestamp with time zone, p_stuck interval, p_limit integer) RETURNS TABLE(tenant_id text, notification_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    (select n.tenant_id, n.id from notifications n where n.state = 'failed' limit p_limit)
    union all
    (select n.tenant_id, n.id from notifications n
     join outbound o on o.tenant_id = n.tenant_id and o.id = n.outbound_id
     where n.state = 'owed' and o.state = 'ready' and o.attempts > 0 and o.owner is null
       and o.created_at < clock_timestamp() - p_stuck
       -- Somewhere else to go, not tried yet; otherwise it keeps being tried here.
       and exists (select 1 from identities i where i.tenant_id = n.tenant_id and i.state = 'active'
                   and i.admitted <> '' and i.id <> all (n.tried))
     limit p_limit)
    union all
    (select n.tenant_id, n.id from notifications n
     where n.state = 'sent' and n.fall_back_at <= p_now
       and not exists (select 1 from conversations c where c.tenant_id = n.tenant_id and c.last_inbound_at > n.sent_at)
       and not exists (select 1 from approvals a where a.tenant_id = n.tenant_id and a.decided_at > n.owed_at
                       and a.decided_by <> '')
     limit p_limit)
$$;

CREATE FUNCTION public.find_undelivered(p_now timestamp with time zone, p_stuck interval, p_limit integer, p_without text[]) RETURNS TABLE(tenant_id text, notification_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    (select n.tenant_id, n.id from notifications n where n.state = 'failed' and n.id <> all (p_without) limit p_limit)
    union all
    (select n.tenant_id, n.id from notifications n
     join outbound o on o.tenant_id = n.tenant_id and o.id = n.outbound_id
     where n.state = 'owed' and o.state = 'ready' and o.attempts > 0 and o.owner is null
       and o.created_at < clock_timestamp() - p_stuck and n.id <> all (p_without)
       and not exists (select 1 from outbound_parts e where e.tenant_id = o.tenant_id and e.outbound_id = o.id
                       and e.state in ('sent', 'ambiguous', 'checking', 'sending'))
       -- Somewhere else to go, not tried yet; otherwise it keeps being tried here.
       and exists (select 1 from identities i where i.tenant_id = n.tenant_id and i.state = 'active'
                   and i.admitted <> '' and i.id <> all (n.tried))
     limit p_limit)
    union all
    (select n.tenant_id, n.id from notifications n
     where n.state = 'sent' and n.fall_back_at <= p_now and n.id <> all (p_without)
       and not exists (select 1 from conversations c where c.tenant_id = n.tenant_id and c.last_inbound_at > n.sent_at)
       and not exists (select 1 from approvals a where a.tenant_id = n.tenant_id and a.decided_at > n.owed_at
                       and a.decided_by <> '')
     limit p_limit)
$$;

CREATE FUNCTION public.finish_turn(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_state text, p_reason text, p_usage jsonb, p_history jsonb, p_outbound jsonb, p_absorbed text[], p_new_session boolean, p_pool jsonb, p_waiting_step integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_conversation conversations%rowtype;
    v_turn turns%rowtype;
    v_more boolean;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select c.* into v_conversation from conversations c
    join lanes l on l.tenant_id = c.tenant_id and l.conversation_id = c.id
    where l.tenant_id = p_tenant and l.id = p_lane for update of c;
    select * into v_turn from turns t where t.tenant_id = p_tenant and t.id = p_turn;
    if v_turn.fence is distinct from p_fence then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
    if v_turn.state <> 'running' then
        select l.fence = p_fence and l.owner is not null and l.pending into v_more
        from lanes l where l.tenant_id = p_tenant and l.id = p_lane;
        return coalesce(v_more, false);
    end if;
    perform hold_lane(p_tenant, p_lane, p_fence);
    update turns t set state = p_state, reason = p_reason, usage = p_usage, waiting_step = p_waiting_step,
        finished_at = case when p_state <> 'waiting' then clock_timestamp() end
    where t.tenant_id = p_tenant and t.id = p_turn;
    update inbound i set state = 'done', reason = p_reason
    where i.tenant_id = p_tenant and i.turn_id = p_turn and i.state = 'taken';
    update inbound i set state = 'done', reason = p_reason, turn_id = p_turn
    where i.tenant_id = p_tenant and i.id = any (p_absorbed) and i.state = 'waiting';

    insert into history (tenant_id, conversation_id, position, session, turn_id, message)
    select p_tenant, v_conversation.id, v_conversation.history_seq + h.position, v_conversation.session, p_turn, h.value
    from jsonb_array_elements(p_history) with ordinality as h (value, position);
    perform owe(p_tenant, v_conversation.id, p_turn, p_outbound);
    update conversations c
    set history_seq = c.history_seq + jsonb_array_length(p_history),
        session = c.session + (case when p_new_session then 1 else 0 end)
    where c.tenant_id = p_tenant and c.id = v_conversation.id;

    perform write_pool(p_tenant, p_turn, v_conversation.id, p_pool);
    if p_state <> 'waiting' then
        delete from pool_entries e where e.tenant_id = p_tenant and e.turn_id = p_turn;
    end if;
    if p_new_session then
        perform close_questions(p_tenant, v_conversation.id);
    end if;

    v_more := exists (select 1 from inbound i where i.tenant_id = p_tenant
                      and i.conversation_id = v_conversation.id and i.state = 'waiting')
        or exists (select 1 from turns t where t.tenant_id = p_tenant and t.lane_id = p_lane
                   and t.state = 'waiting' and t.ready);
    update lanes l
    set pending = v_more, pending_since = case when v_more then clock_timestamp() end,
        owner = case when v_more then l.owner end, lease_until = case when v_more then l.lease_until end,
        not_before = null
    where l.tenant_id = p_tenant and l.id = p_lane;
    return v_more;
end $$;

CREATE FUNCTION public.fire_tasks(p_tasks jsonb) RETURNS TABLE(tenant_id text, lane_id text)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    with given as (
        select * from jsonb_to_recordset(p_tasks) as x (
            tenant_id text, task_id text, due_at timestamptz, next_at timestamptz, zone text, fires int, runs jsonb)
    ), moved as (
        update tasks t
        set due_at = g.due_at, next_at = g.next_at, zone = g.zone, rezone = false, fired = t.fired + g.fires,
            state = case when g.next_at is null then 'COMPLETED' else t.state end
        from given g where t.tenant_id = g.tenant_id and t.id = g.task_id
        returning t.tenant_id, t.id, g.runs
    ), made as (
        insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, reason, cause, turn_id, finished_at)
        select m.tenant_id, r.run_id, m.id, r.occurrence, r.due_at, r.state, r.reason, r.cause,
               case when r.state = 'QUEUED' then r.turn_id end,
               case when r.state <> 'QUEUED' then clock_timestamp() end
        from moved m, jsonb_to_recordset(m.runs) as r (
            run_id text, turn_id text, occurrence text, due_at timestamptz, state text, reason text, cause jsonb)
        on conflict (tenant_id, task_id, occurrence) do nothing
        returning task_runs.tenant_id, task_runs.id, task_runs.turn_id
    ), laned as (
        insert into lanes (tenant_id, id, pending, pending_since)
        select m.tenant_id, m.id, true, clock_timestamp() from made m where m.turn_id is not null
    )
    insert into turns (tenant_id, id, lane_id, state, ready, fence)
    select m.tenant_id, m.turn_id, m.id, 'waiting', true, 0 from made m where m.turn_id is not null
    returning turns.tenant_id, turns.lane_id
$$;

CREATE FUNCTION public.forget_looks() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    new.looks_begun := 0;
    return new;
end $$;

CREATE FUNCTION public.forget_stream(p_tenant text, p_outbound text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held' and o.stream = '';
end $$;

CREATE FUNCTION public.form_shown(p_tenant text, p_approval text) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
    select jsonb_build_object(
        'token', a.token, 'code', a.code, 'summary', a.summary, 'shown', a.shown, 'form', a.form, 'name', a.name,
        'until', coalesce(told_time(p_tenant, a.expires_at), ''))
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

CREATE FUNCTION public.give_back_outbound(p_tenant text, p_outbound text, p_fence bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set owner = null, lease_until = null,
        state = case when o.state = 'sending' then 'ready' else o.state end
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

CREATE FUNCTION public.hold_lane(p_tenant text, p_lane text, p_fence bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform 1 from lanes l
    where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence and l.owner is not null
    for share;
    if not found then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
end $$;

CREATE FUNCTION public.hold_outbound(p_tenant text, p_outbound text, p_fence bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from outbound o
    where o.tenant_id = p_tenant and o.id = p_outbound and o.fence = p_fence and o.owner is not null for update;
    if not found then
        raise exception 'lease lost' using errcode = 'OV001';
    end if;
end $$;

CREATE FUNCTION public.hold_person(p_tenant text, p_alone boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if p_alone then
        perform pg_advisory_xact_lock(hashtextextended('person' || chr(31) || p_tenant, 0));
    else
        perform pg_advisory_xact_lock_shared(hashtextextended('person' || chr(31) || p_tenant, 0));
    end if;
end $$;

CREATE FUNCTION public.hold_task() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    new.held := is_unreachable(new.tenant_id);
    return new;
end $$;

CREATE FUNCTION public.hold_tasks() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_tenant text;
    v_held boolean;
begin
    foreach v_tenant in array array_remove(array[
        case when tg_op <> 'DELETE' then new.tenant_id end, case when tg_op <> 'INSERT' then old.tenant_id end], null)
    loop
        v_held := is_unreachable(v_tenant);
        update tasks t set held = v_held where t.tenant_id = v_tenant and t.held <> v_held;
    end loop;
    return null;
end $$;

CREATE FUNCTION public.hold_turn(p_tenant text, p_turn text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform 1 from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
    where t.tenant_id = p_tenant and t.id = p_turn for update of l;
end $$;

CREATE FUNCTION public.home_conversation(p_tenant text, p_channel text, p_on text[] DEFAULT '{}'::text[]) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    select c.id from conversations c
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    join tenants t on t.tenant_id = c.tenant_id
    where c.tenant_id = p_tenant and i.state = 'active' and c.channel not in ('push', 'email')
      and (p_on = '{}' or c.channel = any (p_on))
    order by (c.channel = p_channel) desc, (c.channel = t.preferred_channel) desc, (c.thread = '') desc,
             c.last_inbound_at desc nulls last, c.id
    limit 1
$$;

CREATE FUNCTION public.ignore_message(p_channel text, p_account text, p_keys text[], p_reason text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_added int;
begin
    insert into ignored_messages (channel, account, key, reason)
    select p_channel, p_account, k, p_reason from unnest(p_keys) k order by k
    on conflict (channel, account, key) do nothing;
    get diagnostics v_added = row_count;
    return v_added = (select count(distinct k) from unnest(p_keys) k);
end $$;

CREATE FUNCTION public.is_unreachable(p_tenant text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    select exists (select 1 from identities i where i.tenant_id = p_tenant)
       and not exists (select 1 from identities i where i.tenant_id = p_tenant and i.state = 'active')
$$;

CREATE FUNCTION public.issue_code(p_tenant text, p_holder text, p_codes text[], p_now timestamp with time zone, p_rest interval) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_code text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select c.code into v_code from approval_codes c where c.tenant_id = p_tenant and c.holder = p_holder;
    if found then
        return v_code;
    end if;
    foreach v_code in array p_codes loop
        insert into approval_codes as c (tenant_id, code, holder, issued_at) values (p_tenant, v_code, p_holder, p_now)
        on conflict on constraint approval_codes_pkey do update set holder = excluded.holder, issued_at = excluded.issued_at
        where c.issued_at < p_now - p_rest
          and not exists (select 1 from approvals a where a.tenant_id = p_tenant and a.code = c.code and a.state = 'pending');
        if found then
            return v_code;
        end if;
    end loop;
    return null;
end $$;

CREATE FUNCTION public.judge_dead(p_process text, p_hung text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_cause text;
    v_hung text;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('judge ' || p_process, 0)) then
        return;
    end if;
    perform 1 from lanes l where l.owner is not null and process_of(l.owner) = p_process
    order by l.tenant_id, l.id for update;
    select t.id into v_hung
    from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
    where l.owner is not null and process_of(l.owner) = p_process and t.state = 'running' and t.owner = l.owner
      and l.id = p_hung;
    -- The cause is told where it was alone, or where the last that began is a suspect, and all others had lived for a
    -- while by then; other suspects for as long as any may be alone.
    select case when i.before is null
                     or i.suspect and i.tried_at - suspect_quiet() >= i.before
                        and coalesce(i.tried_at - suspect_alone(12) >= i.suspect_before, true) then i.id end
    into v_cause
    from (select t.id, t.suspect, t.tried_at, lead(t.tried_at) over (order by t.tried_at desc) as before,
                 max(t.tried_at) filter (where t.suspect) over (
                     order by t.tried_at desc rows between 1 following and unbounded following) as suspect_before
          from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
          where l.owner is not null and process_of(l.owner) = p_process and t.state = 'running' and t.owner = l.owner) i
    order by i.tried_at desc limit 1;
    if p_hung <> '' then
        v_cause := coalesce(v_hung, '');  -- nobody here, where something else blocked it
    end if;
    -- Beside it the others are clear. Where it cannot be told, all that died there before are suspects.
    update turns t
    set owner = '', attempts = t.attempts + 1, died_after = d.steps, died_there = d.there, deaths = d.deaths,
        blamed = case when d.deaths >= 12 then greatest(d.blamed, 3) else d.blamed end,
        suspect = d.deaths >= 12 or d.there >= 2 or coalesce(p_hung = '' or d.id = v_hung, false)
    from (select r.tenant_id, r.id, r.steps, r.deaths + case when v_cause <> r.id then 0 else 1 end as deaths,
                 case when v_cause <> r.id then case when r.same then r.died_there else 0 end
                      when r.same then r.died_there + 1
                      when v_cause = r.id and r.suspect then r.died_there
                      else 1 end as there,
                 case when v_cause = r.id then case when r.same then r.blamed + 1 else 1 end
                      when r.same then r.blamed
                      else 0 end as blamed
          from (select o.*, o.died_after = o.steps as same
                from (select t.*, steps_done(t.tenant_id, t.id) as steps
                      from lanes l join turns t on t.tenant_id = l.tenant_id and t.lane_id = l.id
                      where l.owner is not null and process_of(l.owner) = p_process
                        and t.state = 'running' and t.owner = l.owner) o) r) d
    where t.tenant_id = d.tenant_id and t.id = d.id;
    -- Since when it waits for somebody who goes on with it.
    update lanes l set owner = null, lease_until = null, not_before = clock_timestamp()
    where l.owner is not null and process_of(l.owner) = p_process;
end $$;

CREATE FUNCTION public.judge_lapsed(p_me text, p_ttl interval) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_process text;
begin
    for v_process in select distinct process_of(l.owner) from lanes l
                     where l.owner is not null and l.lease_until < clock_timestamp() loop
        if v_process <> p_me and not exists (
            select 1 from lanes l where l.owner is not null and process_of(l.owner) = v_process
            and l.lease_until > clock_timestamp() + p_ttl * 0.4) then
            perform judge_dead(v_process);
            continue;
        end if;
        update turns t set owner = '', attempts = t.attempts + 1
        from (select l.tenant_id, l.id, l.owner from lanes l
              where l.owner is not null and process_of(l.owner) = v_process
                and l.lease_until + p_ttl < clock_timestamp() for update skip locked) l
        where t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running' and t.owner = l.owner;
        update lanes l set owner = null, lease_until = null, not_before = clock_timestamp()
        where l.owner is not null and process_of(l.owner) = v_process and l.lease_until + p_ttl < clock_timestamp();
    end loop;
end $$;

CREATE FUNCTION public.keep_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval, p_place text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    update channel_state s
    set sweep_until = clock_timestamp() + p_ttl, sweep_place = coalesce(p_place, s.sweep_place)
    where s.channel = p_channel and s.account = p_account and s.sweep_owner = p_owner;
    return found;
end $$;

CREATE FUNCTION public.keep_fact(p_tenant text, p_id text, p_key text, p_value text, p_source text, p_turn text, p_now timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.keep_failure(p_tenant text, p_conversation text, p_turn text, p_text text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_seq bigint;
    v_kept int;
begin
    select c.history_seq into v_seq from conversations c where c.tenant_id = p_tenant and c.id = p_conversation;
    insert into history (tenant_id, conversation_id, position, session, turn_id, message)
    select p_tenant, p_conversation, v_seq + row_number() over (order by m.place, m.seq), c.session, p_turn, m.message
    from conversations c,
         (select 0 as place, i.seq,
                 case when i.origin = 'own' then jsonb_build_object('role', 'user', 'text', i.text)
                      else jsonb_build_object('role', 'user', 'internal', true,
                                              'text', '[The person passed something on, not shown here.]')
                 end as message
          from inbound i
          where i.tenant_id = p_tenant and i.turn_id = p_turn
          union all select 1, 0, jsonb_build_object('role', 'assistant', 'text', p_text)) m
    where c.tenant_id = p_tenant and c.id = p_conversation;
    get diagnostics v_kept = row_count;
    update conversations c set history_seq = v_seq + v_kept where c.tenant_id = p_tenant and c.id = p_conversation;
end $$;

CREATE FUNCTION public.keep_link_code(p_tenant text, p_turn text, p_code_hash bytea, p_now timestamp with time zone, p_expires timestamp with time zone, p_most integer) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_identity identities%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select i.* into v_identity from turns t
    join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    where t.tenant_id = p_tenant and t.id = p_turn;
    if (select count(*) from link_codes k where k.tenant_id = p_tenant and k.turn_id <> p_turn
        and k.made_at > p_now - interval '1 day') >= p_most then
        return 'limited';
    end if;
    update link_codes k set expires_at = least(k.expires_at, p_now)
    where k.tenant_id = p_tenant and k.used_at is null;
    insert into link_codes (tenant_id, code_hash, identity_id, turn_id, made_at, expires_at)
    values (p_tenant, p_code_hash, v_identity.id, p_turn, p_now, p_expires);
    insert into person_audit (tenant_id, what, channel, account, identity_id, turn_id)
    values (p_tenant, 'code', v_identity.channel, v_identity.account, v_identity.id, p_turn);
    return 'given';
end $$;

CREATE FUNCTION public.keep_notification(p_tenant text, p_note jsonb, p_state text, p_not_before timestamp with time zone, p_same_since timestamp with time zone, p_places jsonb, p_outbound text, p_new_conversation text, p_now timestamp with time zone, p_fall_back_at timestamp with time zone) RETURNS TABLE(state text, id text, conversation_id text, channel text)
    LANGUAGE plpgsql
    AS $$
declare
    v_known text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- The same news twice at once meets here.
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    if exists (select 1 from notifications n where n.tenant_id = p_tenant and n.id = p_note ->> 'id') then
        return query select n.state, n.id, coalesce(c.id, ''), coalesce(c.channel, '') from notifications n
        left join conversations c on c.tenant_id = n.tenant_id and c.id = n.conversation_id
        where n.tenant_id = p_tenant and n.id = p_note ->> 'id';
        return;
    end if;
    select n.id into v_known from notifications n
    where n.tenant_id = p_tenant and n.dedupe_key = p_note ->> 'dedupe_key' and n.at > p_same_since
      and n.state not in ('muted', 'nowhere')
    order by n.at limit 1;
    if v_known is not null then
        update notifications n set repeats = n.repeats + 1 where n.tenant_id = p_tenant and n.id = v_known;
        return query select 'duplicate', v_known, '', '';
        return;
    end if;
    insert into notifications (tenant_id, id, category, urgency, title, text, actions, media, dedupe_key, task_id,
                               run_id, wanted, state, at, not_before)
    values (p_tenant, p_note ->> 'id', p_note ->> 'category', p_note ->> 'urgency', p_note ->> 'title',
            p_note ->> 'text', p_note -> 'actions', p_note -> 'media', p_note ->> 'dedupe_key', p_note ->> 'task_id',
            p_note ->> 'run_id', p_note ->> 'conversation_id',
            case when p_state = 'owed' then 'held' else p_state end, p_now, coalesce(p_not_before, p_now));
    if p_state <> 'owed' then
        return query select p_state, p_note ->> 'id', '', '';
        return;
    end if;
    return query select o.state, p_note ->> 'id', o.conversation_id, o.channel
    from owe_notification(p_tenant, p_note ->> 'id', 'held', p_places, p_outbound, p_new_conversation, p_now,
                          p_fall_back_at) o;
end $$;

CREATE TABLE public.outbound_parts (
    tenant_id text NOT NULL,
    outbound_id text NOT NULL,
    part integer NOT NULL,
    ref text NOT NULL,
    text text NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    segments integer DEFAULT 1 NOT NULL,
    state text DEFAULT 'ready'::text NOT NULL,
    provider_id text DEFAULT ''::text NOT NULL,
    degraded boolean DEFAULT false NOT NULL,
    status text DEFAULT ''::text NOT NULL,
    status_rank integer DEFAULT '-1'::integer NOT NULL,
    status_at timestamp with time zone,
    error_code text DEFAULT ''::text NOT NULL,
    sent_at timestamp with time zone,
    CONSTRAINT outbound_parts_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'sending'::text, 'checking'::text, 'sent'::text, 'ambiguous'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.outbound_parts FORCE ROW LEVEL SECURITY;

CREATE FUNCTION public.keep_parts(p_tenant text, p_outbound text, p_fence bigint, p_parts jsonb) RETURNS SETOF public.outbound_parts
    LANGUAGE plpgsql
    AS $$
begin
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    insert into outbound_parts (tenant_id, outbound_id, part, ref, text, data, segments)
    select p_tenant, p_outbound, (v.value ->> 'part')::int, v.value ->> 'ref', v.value ->> 'text',
           v.value -> 'data', (v.value ->> 'segments')::int
    from jsonb_array_elements(p_parts) v
    where not exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound)
    on conflict on constraint outbound_parts_pkey do nothing;
    return query select * from outbound_parts e
    where e.tenant_id = p_tenant and e.outbound_id = p_outbound order by e.part;
end $$;

CREATE FUNCTION public.keep_parts(p_tenant text, p_outbound text, p_fence bigint, p_parts jsonb, p_rest jsonb) RETURNS SETOF public.outbound_parts
    LANGUAGE plpgsql
    AS $$
begin
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set rest = p_rest
    where o.tenant_id = p_tenant and o.id = p_outbound
      and not exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound);
    return query select * from keep_parts(p_tenant, p_outbound, p_fence, p_parts);
end $$;

CREATE FUNCTION public.keep_poll(p_channel text, p_account text, p_owner text, p_offset bigint, p_problem text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    update channel_state s set poll_offset = p_offset, poll_problem = p_problem
    where s.channel = p_channel and s.account = p_account and s.owner = p_owner
      and s.lease_until >= clock_timestamp();
    return found;
end $$;

CREATE FUNCTION public.keep_preferences(p_tenant text, p_values jsonb, p_turn text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tenants t
    set name = coalesce(p_values ->> 'name', t.name), language = coalesce(p_values ->> 'language', t.language),
        timezone = coalesce(p_values ->> 'timezone', t.timezone),
        preferred_channel = coalesce(p_values ->> 'preferred_channel', t.preferred_channel),
        quiet_from = coalesce(p_values ->> 'quiet_from', t.quiet_from),
        quiet_until = coalesce(p_values ->> 'quiet_until', t.quiet_until),
        while_running = coalesce(p_values ->> 'while_running', t.while_running),
        muted = coalesce(string_to_array(p_values ->> 'muted', ','), t.muted)
    where t.tenant_id = p_tenant;
    insert into person_audit (tenant_id, what, other, turn_id)
    select p_tenant, 'preference', string_agg(k, ','), p_turn from jsonb_object_keys(p_values) k;
end $$;

CREATE FUNCTION public.keep_stream(p_tenant text, p_lane text, p_fence bigint, p_outbound text, p_stream text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform hold_lane(p_tenant, p_lane, p_fence);
    update outbound o set stream = p_stream where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held';
    return found;
end $$;

CREATE FUNCTION public.lane_let_go(p_tenant text, p_lane text, p_fence bigint) RETURNS boolean
    LANGUAGE sql
    AS $$
    select exists (select 1 from lanes l where l.tenant_id = p_tenant and l.id = p_lane
                   and l.fence = p_fence and l.owner is null)
$$;

CREATE FUNCTION public.leave_catch_up(p_channel text, p_account text, p_owner text) RETURNS void
    LANGUAGE sql
    AS $$
    update channel_state set sweep_owner = null, sweep_until = null
    where channel = p_channel and account = p_account and sweep_owner = p_owner
$$;

CREATE FUNCTION public.leave_lane(p_tenant text, p_lane text, p_fence bigint, p_delay interval) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if lane_let_go(p_tenant, p_lane, p_fence) then
        return;
    end if;
    perform hold_lane(p_tenant, p_lane, p_fence);
    update turns t set owner = ''
    where t.tenant_id = p_tenant and t.lane_id = p_lane and t.fence = p_fence and t.state = 'running';
    update lanes l set owner = null, lease_until = null, not_before = clock_timestamp() + p_delay
    where l.tenant_id = p_tenant and l.id = p_lane;
end $$;

CREATE FUNCTION public.leave_notice(p_tenant text, p_run text, p_key text, p_most integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_state text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update run_notices n
    set state = case when n.attempts >= p_most then 'failed' else 'open' end,
        next_attempt_at = clock_timestamp() + least(interval '10 seconds' * 2 ^ least(n.attempts, 10), interval '15 minutes')
    where n.tenant_id = p_tenant and n.run_id = p_run and n.key = p_key and n.state = 'open'
    returning n.state into v_state;
    return coalesce(v_state = 'failed', false);
end $$;

CREATE FUNCTION public.leave_profile(p_tenant text, p_owner text, p_delay interval) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from profile_jobs j where j.tenant_id = p_tenant and j.owner = p_owner and j.attempts >= 3;
    update profile_jobs j set owner = null, lease_until = null, not_before = clock_timestamp() + p_delay
    where j.tenant_id = p_tenant and j.owner = p_owner;
end $$;

CREATE FUNCTION public.let_keys_wait() RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_key record;
begin
    for v_key in
        select k.conrelid::regclass as of, k.conname from pg_constraint k
        where k.contype = 'f' and not k.condeferrable and k.connamespace = current_schema()::regnamespace
    loop
        execute format('alter table %s alter constraint %I deferrable initially immediate', v_key.of, v_key.conname);
    end loop;
end $$;

CREATE FUNCTION public.link_stranger(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_name text, p_timezone text, p_code_hash bytea, p_now timestamp with time zone, p_agreed boolean, p_most_of_sender integer, p_window interval, p_new_identity text, p_new_conversation text, p_outbound text) RETURNS TABLE(outcome text, tenant_id text, identity_id text, conversation_id text)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.list_credentials(p_tenant text, p_service text) RETURNS TABLE(service text, account_name text, preferred boolean, created_at timestamp with time zone, updated_at timestamp with time zone)
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select c.service, c.account_name, c.preferred, c.created_at, c.updated_at from credentials c
    where c.tenant_id = p_tenant and (p_service is null or c.service = p_service)
    order by c.service, c.account_name;
end $$;

CREATE FUNCTION public.lock_spending(p_tenant text, p_day date) RETURNS numeric
    LANGUAGE sql
    AS $$
    insert into spending as s (tenant_id, day) values (p_tenant, p_day)
    on conflict (tenant_id, day, task_id) do update set spent = s.spent
    returning s.spent
$$;

CREATE FUNCTION public.look_at_poll(p_channel text, p_account text) RETURNS TABLE(polled boolean, problem text)
    LANGUAGE sql STABLE
    AS $$
    select coalesce(s.lease_until >= clock_timestamp(), false), s.poll_problem
    from channel_state s where s.channel = p_channel and s.account = p_account
$$;

CREATE FUNCTION public.look_for_part(p_channel text, p_account text, p_ref text, p_provider_id text) RETURNS TABLE(tenant_id text, outbound_id text, part integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select e.tenant_id, e.outbound_id, e.part
    from outbound_parts e
    join outbound o on o.tenant_id = e.tenant_id and o.id = e.outbound_id
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
    where c.channel = p_channel and c.account = p_account
      and (e.ref = p_ref or (p_ref = '' and p_provider_id <> '' and e.provider_id = p_provider_id))
    limit 1
$$;

CREATE FUNCTION public.make_shared_collection(p_owner text, p_name text, p_id text) RETURNS TABLE(shared_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.mark_channel(p_channel text, p_account text, p_in boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if exists (select 1 from channel_state s where s.channel = p_channel and s.account = p_account
               and case when p_in then s.last_in_at else s.last_out_at end > clock_timestamp() - interval '1 second') then
        return;
    end if;
    insert into channel_state as s (channel, account, last_in_at, last_out_at)
    values (p_channel, p_account, case when p_in then clock_timestamp() end, case when not p_in then clock_timestamp() end)
    on conflict (channel, account) do update
    set last_in_at = coalesce(excluded.last_in_at, s.last_in_at),
        last_out_at = coalesce(excluded.last_out_at, s.last_out_at);
end $$;

CREATE FUNCTION public.may_match(p_text text, p_pattern text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    select p_pattern is null or position('[' in p_pattern) > 0 or p_text like
        replace(replace(replace(replace(replace(p_pattern, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%'), '?', '_')
$$;

CREATE FUNCTION public.may_notify(p_tenant text, p_identity text, p_channel text, p_peer text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    select exists (
        select 1 from identities i
        where i.tenant_id = p_tenant and i.id = p_identity and i.channel = p_channel
          and i.state = 'active' and i.admitted <> ''
          and (p_channel not in ('sms', 'telegram', 'push', 'email') or i.user_key = p_peer))
$$;

CREATE FUNCTION public.meant_approvals(p_tenant text, p_conversation text, p_inbound text, p_code text, p_now timestamp with time zone) RETURNS TABLE(approval_id text)
    LANGUAGE plpgsql STABLE
    AS $$
declare
    v_last bigint;
begin
    if p_code not in ('', 'ALL') then
        return query select a.id from approvals a
        where a.tenant_id = p_tenant and a.code = p_code order by a.created_at desc limit 1;
        return;
    end if;
    if p_code = '' then
        -- A bare word counts only when one card was the last thing said here, by anybody.
        select max(o.seq) into v_last from outbound o
        where o.tenant_id = p_tenant and o.conversation_id = p_conversation
          and not exists (select 1 from approval_cards c join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
                          where c.tenant_id = o.tenant_id and c.outbound_id = o.id and c.role = 'card' and a.state = 'pending');
        if exists (select 1 from inbound i
                   where i.tenant_id = p_tenant and i.conversation_id = p_conversation and i.id <> p_inbound
                     and i.received_at > (select min(o.created_at) from outbound o
                                          where o.tenant_id = p_tenant and o.conversation_id = p_conversation
                                            and o.seq > coalesce(v_last, 0))) then
            return;
        end if;
    end if;
    return query select a.id from approvals a
    where a.tenant_id = p_tenant and a.state = 'pending' and (p_code = '' or a.risk <> 'high')
      and exists (select 1 from approval_cards c join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
                  where c.tenant_id = a.tenant_id and c.approval_id = a.id and c.role = 'card'
                    and o.conversation_id = p_conversation and (p_code = 'ALL' or o.seq > coalesce(v_last, 0)))
    order by a.created_at, a.id limit case when p_code = '' then 2 else 50 end;
end $$;

CREATE FUNCTION public.meet_stranger(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_name text, p_timezone text, p_code_hash bytea, p_outbound text, p_text text, p_now timestamp with time zone, p_expires timestamp with time zone, p_most_waiting integer, p_most_of_sender integer, p_most_of_account integer, p_new_tenant text, p_new_identity text, p_new_conversation text) RETURNS TABLE(duplicate boolean, conversation_id text)
    LANGUAGE plpgsql
    AS $$
declare
    v_tenant text;
    v_identity text;
    v_conversation text;
    v_asked record;
begin
    if exists (select 1 from find_received(p_channel, p_account, p_keys))
       or not ignore_message(p_channel, p_account, p_keys, 'unknown') then
        return query select true, null::text;
        return;
    end if;
    perform mark_channel(p_channel, p_account, true);
    if p_code_hash is null or exists (
            select 1 from find_consent(p_channel, p_account, p_user_key) f where f.state = 'stopped') then
        return query select false, null::text;
        return;
    end if;
    perform drop_strangers(p_now);
    perform pg_advisory_xact_lock(hashtextextended('pairing' || chr(31) || p_channel || chr(31) || p_account, 0));
    select count(*) filter (where p.asked_at > p_now - interval '1 hour') as of_account,
           count(*) filter (where p.user_key = p_user_key) as of_sender,
           count(*) filter (where p.used_at is null and p.expires_at > p_now and p.user_key = p_user_key) as told
    into v_asked
    from pairings p
    where p.channel = p_channel and p.account = p_account and p.asked_at > p_now - interval '1 day';
    if v_asked.told > 0 or v_asked.of_sender >= p_most_of_sender or v_asked.of_account >= p_most_of_account then
        return query select false, null::text;
        return;
    end if;
    insert into pairings (code_hash, channel, account, user_key, asked_at, expires_at)
    values (p_code_hash, p_channel, p_account, p_user_key, p_now, p_expires);
    select a.tenant_id, a.identity_id into v_tenant, v_identity
    from admit_identity(p_channel, p_account, p_user_key, p_name, p_timezone, p_new_tenant, p_new_identity,
                        '', 'guest') a;
    v_conversation := open_conversation(
        v_tenant, v_identity, p_channel, p_account, p_peer, p_thread, p_new_conversation);
    perform owe(v_tenant, v_conversation, null,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'receipt', 'text', p_text)));
    return query select false, v_conversation;
end $$;

CREATE FUNCTION public.memory_unembedded(p_embedder text, p_most integer) RETURNS TABLE(tenant_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    return query
    select owed.tenant_id from (
        select distinct m.tenant_id from memories m
        where not exists (select from memory_vectors v where v.tenant_id = m.tenant_id and v.memory_id = m.id
                          and v.embedder = p_embedder)) owed
    order by random() limit p_most;
end $$;

CREATE FUNCTION public.merge_people(p_kept text, p_gone text, p_turn text, p_code_hash bytea, p_rules jsonb, p_sealed jsonb) RETURNS TABLE(rows_moved bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
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
end $_$;

CREATE FUNCTION public.merge_values(p_kept text, p_gone text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.move_apart(p_tenant text, p_link text, p_turn text, p_rules jsonb, p_sealed jsonb) RETURNS TABLE(rows_moved bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
declare
    v_link links%rowtype;
    v_rule jsonb;
    v_table text;
    v_by text;
    v_key text;
    v_count bigint;
begin
    rows_moved := 0;
    select * into v_link from links l where l.tenant_id = p_tenant and l.id = p_link for update;
    if v_link.id is null or not exists (select from tenants g where g.tenant_id = v_link.other_id
                                        and g.xmin = pg_current_xact_id()::xid) then
        raise exception 'no parting was begun';
    end if;
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
                       ' and not r.copied and r.key = array[%s]::text[]))', v_table, coalesce(v_by, 'false'), v_table, v_key)
        using p_tenant, v_link.other_id, p_link;
        get diagnostics v_count = row_count;
        rows_moved := rows_moved + v_count;
    end loop;
    perform part_values(p_tenant, v_link.other_id, p_link);
    perform part_numbers(p_tenant, v_link.other_id, p_link);
    insert into credentials (tenant_id, service, account_name, key_version, credentials_json, preferred, created_at)
    select v_link.other_id, v.value ->> 'service', v.value ->> 'account_name', (v.value ->> 'key_version')::int,
           decode(v.value ->> 'sealed', 'base64'), (v.value ->> 'preferred')::boolean,
           (v.value ->> 'created_at')::timestamptz
    from jsonb_array_elements(p_sealed) v;
    delete from credentials c using jsonb_array_elements(p_sealed) v
    where c.tenant_id = p_tenant and c.service = v.value ->> 'service' and c.account_name = v.value ->> 'was';
    -- Nobody gains a day's money by it.
    insert into spending (tenant_id, day, task_id, spent)
    select v_link.other_id, s.day, s.task_id, s.spent from spending s where s.tenant_id = p_tenant and s.task_id = '';
    perform part_places(p_tenant, v_link.other_id, p_turn);
    perform cut_across(p_tenant, v_link.other_id);
    update tenants k
    set role = case when k.role = case when rank_of(v_link.other ->> 'role') < rank_of(v_link.before ->> 'role')
                                       then v_link.other ->> 'role' else v_link.before ->> 'role' end
                    then v_link.before ->> 'role' else k.role end,
        tier = v_link.before ->> 'tier',
        name = case when v_link.before ->> 'name' = '' and k.name = v_link.other ->> 'name' then '' else k.name end,
        timezone = case when v_link.before ->> 'timezone' = '' and k.timezone = v_link.other ->> 'timezone'
                        then '' else k.timezone end,
        muted = array(select m from unnest(k.muted) m where v_link.before -> 'muted' ? m
                      or not v_link.other -> 'muted' ? m)
    where k.tenant_id = p_tenant;
    insert into person_audit (tenant_id, what, other, turn_id)
    values (p_tenant, 'unlinked', v_link.other_id, p_turn), (v_link.other_id, 'unlinked', p_tenant, '');
    delete from links l where l.tenant_id = p_tenant and l.id = p_link;
    set constraints all immediate;
    return next;
end $_$;

CREATE FUNCTION public.move_conversation(p_tenant text, p_conversation text, p_peer text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update conversations c set peer = p_peer
    where c.tenant_id = p_tenant and c.id = p_conversation
      and not exists (
          select 1 from conversations o
          where o.tenant_id = c.tenant_id and o.channel = c.channel and o.account = c.account
            and o.peer = p_peer and o.thread = c.thread);
end $$;

CREATE FUNCTION public.next_due_task() RETURNS TABLE(tenant_id text, due timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select t.tenant_id, t.next_at from tasks t where t.state = 'ACTIVE' and not t.held and t.next_at is not null
    order by t.next_at limit 1
$$;

CREATE FUNCTION public.next_guess(p_scope text, p_most integer, p_window interval, p_now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
declare
    v_oldest timestamptz;
begin
    perform pg_advisory_xact_lock(hashtextextended('guesses' || chr(31) || p_scope, 0));
    select g.at into v_oldest from guesses g
    where g.scope = p_scope and g.at > p_now - p_window
    order by g.at desc offset p_most - 1 limit 1;
    return v_oldest + p_window;
end $$;

CREATE FUNCTION public.note_consent() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into consents (channel, account, user_key, state, how)
    values (new.channel, new.account, new.user_key, new.state, new.state_reason);
    if new.state = 'stopped' then
        update outbound o set state = 'failed', reason = 'the person stopped or blocked this channel'
        from conversations c
        where o.tenant_id = new.tenant_id and c.tenant_id = o.tenant_id and c.id = o.conversation_id
          and c.identity_id = new.id and o.state = 'ready' and not o.regardless
          and (o.owner is null or o.lease_until < clock_timestamp());
    end if;
    return null;
end $$;

CREATE FUNCTION public.note_link(p_kept text, p_gone text, p_link text, p_turn text, p_code_hash bytea, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.note_link_asked(p_tenant text, p_code_hash bytea, p_channel text, p_account text, p_user_key text, p_by text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update link_codes k
    set asked_channel = p_channel, asked_account = p_account, asked_user_key = p_user_key, asked_by = p_by
    where k.tenant_id = p_tenant and k.code_hash = p_code_hash
      -- A turn that is taken up again asks again; it does not become the message before its own answer.
      and (k.asked_channel, k.asked_account, k.asked_user_key) is distinct from (p_channel, p_account, p_user_key);
end $$;

CREATE FUNCTION public.note_link_of_stranger(p_tenant text, p_identity text, p_link text, p_other text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into links (tenant_id, id, other_id, other, before, made_at)
    select p_tenant, p_link, p_other, to_jsonb(t) || jsonb_build_object(
        'tenant_id', p_other, 'role', 'guest', 'tier', '', 'name', '', 'timezone', '', 'language', '',
        'preferred_channel', '', 'quiet_from', '', 'quiet_until', '', 'muted', '[]'::jsonb), to_jsonb(t), p_now
    from tenants t where t.tenant_id = p_tenant;
    insert into linked_rows (tenant_id, link_id, of, key) values (p_tenant, p_link, 'identities', array[p_identity]);
end $$;

CREATE FUNCTION public.note_notification() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
    v_note notifications%rowtype;
    v_conversation text;
    v_seq bigint;
begin
    update notifications n
    set state = case when new.state = 'sent' then 'sent' else 'failed' end, reason = new.reason,
        sent_at = case when new.state = 'sent' then clock_timestamp() end,
        fall_back_at = n.fall_back_at + (clock_timestamp() - new.created_at)
    where n.tenant_id = new.tenant_id and n.outbound_id = new.id and n.state = 'owed'
    returning * into v_note;
    if v_note.id is null or new.state = 'failed' then
        return null;
    end if;
    select h.id into v_conversation from conversations c
    left join lateral (
        select o.id from conversations o
        where o.tenant_id = c.tenant_id
          and case when c.channel in ('push', 'email') then o.channel not in ('push', 'email') and o.thread = ''
                                                           and o.last_inbound_at is not null
                   else o.id = c.id end
        order by o.last_inbound_at desc nulls last limit 1) h on true
    where c.tenant_id = new.tenant_id and c.id = new.conversation_id;
    update conversations c set history_seq = c.history_seq + 2
    where c.tenant_id = new.tenant_id and c.id = v_conversation returning c.history_seq into v_seq;
    insert into history (tenant_id, conversation_id, position, session, message)
    select c.tenant_id, c.id, v_seq - 2 + m.position, c.session, m.value
    from conversations c, jsonb_array_elements(jsonb_build_array(
        jsonb_build_object('role', 'user', 'internal', true, 'text',
            '[Not from the person: they were just sent a notification of the kind ' || v_note.category
            || case when v_note.title <> '' then ', ' || v_note.title else '' end || '.]'),
        jsonb_build_object('role', 'assistant', 'text', v_note.text))) with ordinality as m (value, position)
    where c.tenant_id = new.tenant_id and c.id = v_conversation;
    return null;
end $$;

CREATE FUNCTION public.note_notification_undelivered() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update notifications n set state = 'failed', reason = 'undelivered ' || new.error_code
    where n.tenant_id = new.tenant_id and n.outbound_id = new.outbound_id and n.state = 'sent';
    return null;
end $$;

CREATE FUNCTION public.note_origin(p_tenant text, p_inbound text, p_origin text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if p_origin = 'own' or p_tenant is null then
        return;
    end if;
    perform set_config('onevalet.tenant', p_tenant, true);
    update inbound i set origin = p_origin where i.tenant_id = p_tenant and i.id = p_inbound and i.state = 'waiting';
end $$;

CREATE FUNCTION public.note_received() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if (new.text <> '' or new.media <> '[]') and wants_channel_events(new.tenant_id) then
        perform publish_event(new.tenant_id, c.channel, new.id, '', 'message.received',
            jsonb_build_object('message_id', new.id, 'conversation_id', new.conversation_id, 'text', new.text,
                               'media', jsonb_array_length(new.media)), new.received_at)
        from conversations c where c.tenant_id = new.tenant_id and c.id = new.conversation_id
          and wants_channel_event(new.tenant_id, c.channel, 'message.received');
    end if;
    return null;
end $$;

CREATE FUNCTION public.note_reply_to(p_tenant text, p_inbound text, p_reply_to text) RETURNS void
    LANGUAGE sql
    AS $$
    update inbound i set reply_to = p_reply_to
    where p_reply_to <> '' and i.tenant_id = p_tenant and i.id = p_inbound and i.reply_to = ''
$$;

CREATE FUNCTION public.note_run(p_tenant text, p_turn text, p_state text, p_reason text, p_history jsonb, p_key text, p_text text, p_most_failures integer, p_disabled text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_run task_runs%rowtype;
    v_failures int;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v_run from task_runs r where r.tenant_id = p_tenant and r.turn_id = p_turn for update;
    if v_run.state is null or v_run.state not in ('QUEUED', 'RUNNING') then
        return false;
    end if;
    update task_runs r
    set state = p_state, reason = p_reason, history = p_history,
        finished_at = case when p_state <> 'PENDING_APPROVAL' then clock_timestamp() end
    where r.tenant_id = p_tenant and r.id = v_run.id;
    if p_text <> '' then
        insert into run_notices (tenant_id, run_id, key, text) values (p_tenant, v_run.id, p_key, p_text)
        on conflict (tenant_id, run_id, key) do nothing;
    end if;
    if p_state = 'PENDING_APPROVAL' then
        -- An answer is looked for where the question goes to.
        update pool_entries e set conversation_id = v_run.conversation_id
        where e.tenant_id = p_tenant and e.turn_id = p_turn;
    end if;
    if p_state not in ('FAILED', 'COMPLETED') then
        return false;
    end if;
    update tasks t set failures = case p_state when 'FAILED' then t.failures + 1 else 0 end
    where t.tenant_id = p_tenant and t.id = v_run.task_id returning t.failures into v_failures;
    if v_failures < p_most_failures then
        return false;
    end if;
    update tasks t set state = 'DISABLED', reason = 'failed ' || v_failures || ' times in a row', next_at = null
    where t.tenant_id = p_tenant and t.id = v_run.task_id and t.state = 'ACTIVE';
    if found then
        insert into run_notices (tenant_id, run_id, key, text) values (p_tenant, v_run.id, 'disabled', p_disabled)
        on conflict (tenant_id, run_id, key) do nothing;
    end if;
    return found;
end $$;

CREATE FUNCTION public.note_sender(p_channel text, p_account text, p_user_key text, p_name text, p_timezone text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_tenant text;
    v_identity text;
begin
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    if v_tenant is null then
        return false;
    end if;
    perform set_config('onevalet.tenant', v_tenant, true);
    update identities i set name = coalesce(nullif(p_name, ''), i.name),
        timezone = coalesce(nullif(p_timezone, ''), i.timezone)
    where i.tenant_id = v_tenant and i.id = v_identity;
    update tenants t set name = coalesce(nullif(t.name, ''), p_name),
        timezone = coalesce(nullif(t.timezone, ''), p_timezone)
    where t.tenant_id = v_tenant;
    return true;
end $$;

CREATE FUNCTION public.note_task_end() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    new.ended_at := case when new.state = 'COMPLETED' then clock_timestamp() end;
    if new.state <> 'DISABLED' then
        new.set_aside := '';
    end if;
    return new;
end $$;

CREATE FUNCTION public.note_undelivered() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
    v_task text;
    v_again boolean;
begin
    if not wants_channel_events(new.tenant_id) then
        return null;
    end if;
    select max(r.task_id), bool_or(r.cause ->> 'type' = 'delivery.failed') into v_task, v_again
    from task_runs r where r.tenant_id = new.tenant_id and (r.turn_id = new.turn_id or r.id in (
        select n.run_id from notifications n where n.tenant_id = new.tenant_id and (n.outbound_id = new.id
            or n.digest_id in (select d.id from notifications d
                               where d.tenant_id = new.tenant_id and d.outbound_id = new.id))));
    perform publish_event(new.tenant_id, c.channel, new.id, '', 'delivery.failed',
        jsonb_build_object('outbound_id', new.id, 'conversation_id', new.conversation_id, 'kind', new.kind,
                           'reason', new.reason, 'task_id', coalesce(v_task, ''), 'again', coalesce(v_again, false)),
        clock_timestamp())
    from conversations c where c.tenant_id = new.tenant_id and c.id = new.conversation_id
      and wants_channel_event(new.tenant_id, c.channel, 'delivery.failed');
    return null;
end $$;

CREATE FUNCTION public.note_worker(p_worker text, p_ahead double precision, p_failing jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into worker_health as h (worker, seen_at, clock_ahead, failing)
    values (p_worker, clock_timestamp(), p_ahead, p_failing)
    on conflict (worker) do update
    set seen_at = excluded.seen_at, clock_ahead = excluded.clock_ahead, failing = excluded.failing;
    delete from worker_health h where h.seen_at < clock_timestamp() - interval '1 hour';
end $$;

CREATE FUNCTION public.open_conversation(p_tenant_id text, p_identity_id text, p_channel text, p_account text, p_peer text, p_thread text, p_id text) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_id text;
begin
    perform set_config('onevalet.tenant', p_tenant_id, true);
    select c.id into v_id from conversations c
    where c.tenant_id = p_tenant_id and c.channel = p_channel and c.account = p_account
      and c.peer = p_peer and c.thread = p_thread;
    if v_id is null then
        insert into conversations (tenant_id, id, identity_id, channel, account, peer, thread)
        values (p_tenant_id, p_id, p_identity_id, p_channel, p_account, p_peer, p_thread)
        on conflict (tenant_id, channel, account, peer, thread) do nothing;
        select c.id into v_id from conversations c
        where c.tenant_id = p_tenant_id and c.channel = p_channel and c.account = p_account
          and c.peer = p_peer and c.thread = p_thread;
    end if;
    return v_id;
end $$;

CREATE FUNCTION public.other_conversation(p_tenant text, p_not_on text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    select c.id from conversations c
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    where c.tenant_id = p_tenant and c.channel not in (p_not_on, 'terminal', 'push', 'email')
      and c.thread = ''
      and i.state = 'active' and i.admitted <> ''
    order by c.last_inbound_at desc nulls last limit 1
$$;

CREATE FUNCTION public.outbound_let_go(p_tenant text, p_outbound text, p_fence bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound
                   and o.fence = p_fence and o.owner is null);
end $$;

CREATE FUNCTION public.outbound_state(p_tenant text, p_outbound text) RETURNS text
    LANGUAGE sql
    AS $$
    select case
        when count(*) filter (where e.state in ('ready', 'sending', 'checking')) > 0 then 'sending'
        when count(*) filter (where e.state = 'ambiguous') > 0 then 'ambiguous'
        else 'sent' end
    from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound
$$;

CREATE FUNCTION public.owe(p_tenant text, p_conversation text, p_turn text, p_outbound jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_message jsonb;
    v_held boolean;
    v_seq bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select c.out_seq into v_seq from conversations c
    where c.tenant_id = p_tenant and c.id = p_conversation for update;
    for v_message in select * from jsonb_array_elements(p_outbound) loop
        v_held := coalesce((v_message ->> 'held')::boolean, false);
        insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, actions, media, state, seq,
                              regardless, wants_reply)
        values (p_tenant, v_message ->> 'id', p_conversation, p_turn, v_message ->> 'kind', v_message ->> 'text',
                coalesce(v_message -> 'actions', '[]'), coalesce(v_message -> 'media', '[]'),
                case when v_held then 'held' else 'ready' end, case when not v_held then v_seq + 1 end,
                coalesce((v_message ->> 'regardless')::boolean, false),
                coalesce((v_message ->> 'wants_reply')::boolean, false))
        on conflict on constraint outbound_pkey do nothing;
        if found then
            if not v_held then
                v_seq := v_seq + 1;
            end if;
            if v_message -> 'approval' is not null and v_message -> 'approval' <> 'null' then
                perform write_approval(p_tenant, p_conversation, p_turn, v_message -> 'approval');
            end if;
            if coalesce(v_message ->> 'shows', '') <> '' then
                insert into approval_cards (tenant_id, outbound_id, approval_id, role)
                values (p_tenant, v_message ->> 'id', v_message ->> 'shows',
                        case v_message ->> 'kind' when 'card' then 'card' when 'receipt' then 'number' else 'prompt' end);
            end if;
        end if;
    end loop;
    update conversations c set out_seq = v_seq where c.tenant_id = p_tenant and c.id = p_conversation;
end $$;

CREATE FUNCTION public.owe_digest(p_tenant text, p_ids text[], p_note jsonb, p_places jsonb, p_outbound text, p_new_conversation text, p_now timestamp with time zone, p_fall_back_at timestamp with time zone) RETURNS TABLE(state text, id text, conversation_id text, channel text)
    LANGUAGE plpgsql
    AS $$
declare
    v_held int;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for no key update;
    if not exists (select 1 from notifications n where n.tenant_id = p_tenant and n.id = p_note ->> 'id') then
        select count(*) into v_held from notifications n
        where n.tenant_id = p_tenant and n.id = any (p_ids) and n.state = 'held';
        if v_held <> cardinality(p_ids) then
            return;
        end if;
        update notifications n set state = 'digested', digest_id = p_note ->> 'id'
        where n.tenant_id = p_tenant and n.id = any (p_ids);
    end if;
    return query select * from keep_notification(
        p_tenant, p_note, 'owed', null, p_now, p_places, p_outbound, p_new_conversation, p_now, p_fall_back_at);
end $$;

CREATE FUNCTION public.owe_memory() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into memory_jobs (tenant_id, id, turn_id) values (new.tenant_id, new.id, new.id)
    on conflict (tenant_id, id) do update set attempts = 0, not_before = clock_timestamp(), owner = null, lease_until = null;
    return null;
end $$;

CREATE FUNCTION public.owe_notification(p_tenant text, p_id text, p_from text, p_places jsonb, p_outbound text, p_new_conversation text, p_now timestamp with time zone, p_fall_back_at timestamp with time zone) RETURNS TABLE(state text, conversation_id text, channel text)
    LANGUAGE plpgsql
    AS $$
declare
    v_note notifications%rowtype;
    v_place jsonb;
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select * into v_note from notifications n where n.tenant_id = p_tenant and n.id = p_id for update;
    if v_note.outbound_id = p_outbound then
        return query select v_note.state, c.id, c.channel from conversations c
        where c.tenant_id = p_tenant and c.id = v_note.conversation_id;
        return;
    end if;
    if v_note.id is null or v_note.state <> p_from then
        return;
    end if;
    for v_place in select * from jsonb_array_elements(p_places) loop
        continue when not may_notify(p_tenant, v_place ->> 'identity_id', v_place ->> 'channel', v_place ->> 'peer');
        v_conversation := open_conversation(
            p_tenant, v_place ->> 'identity_id', v_place ->> 'channel', v_place ->> 'account', v_place ->> 'peer',
            coalesce(v_place ->> 'thread', ''), p_new_conversation);
        -- Who else once had this address: the conversation must be this identity's.
        continue when not exists (
            select 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation
              and c.identity_id = v_place ->> 'identity_id');
        perform owe(p_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
            'id', p_outbound, 'kind', 'notification', 'text', v_place ->> 'text', 'actions', v_place -> 'actions',
            'media', v_place -> 'media')));
        update notifications n
        set state = 'owed', reason = '', conversation_id = v_conversation, outbound_id = p_outbound,
            tried = n.tried || (v_place ->> 'identity_id'), owed_at = coalesce(n.owed_at, p_now),
            fall_back_at = p_fall_back_at, sent_at = null
        where n.tenant_id = p_tenant and n.id = p_id;
        return query select 'owed', v_conversation, v_place ->> 'channel';
        return;
    end loop;
    update notifications n
    set state = case when n.state = 'sent' then 'sent' else 'nowhere' end, fall_back_at = null,
        reason = case when n.reason = '' then 'there is no place to reach this person' else n.reason end
    where n.tenant_id = p_tenant and n.id = p_id;
    return query select 'nowhere', '', '';
end $$;

CREATE FUNCTION public.owe_profile() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if exists (select from inbound i where i.tenant_id = new.tenant_id and i.turn_id = new.id and i.command is null
               and length(i.text) >= 8) then
        insert into profile_jobs (tenant_id, turn_id) values (new.tenant_id, new.id) on conflict do nothing;
    end if;
    return null;
end $$;

CREATE FUNCTION public.owe_unasked(p_tenant text, p_conversation text, p_message jsonb, p_history jsonb) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = p_conversation for update;
    if exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_message ->> 'id') then
        return false;
    end if;
    perform owe(p_tenant, p_conversation, null, jsonb_build_array(p_message));
    insert into history (tenant_id, conversation_id, position, session, message)
    select p_tenant, c.id, c.history_seq + h.position, c.session, h.value
    from conversations c, jsonb_array_elements(p_history) with ordinality as h (value, position)
    where c.tenant_id = p_tenant and c.id = p_conversation;
    update conversations c set history_seq = c.history_seq + jsonb_array_length(p_history)
    where c.tenant_id = p_tenant and c.id = p_conversation;
    return true;
end $$;

CREATE FUNCTION public.part_numbers(p_tenant text, p_other text, p_link text) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
    v_table text;
begin
    foreach v_table in array array['tasks', 'profile_facts', 'memories'] loop
        execute format('update %I k set number = -k.number - 1 where k.tenant_id = $1', v_table) using p_other;
        execute format('update %I k set number = r.number from linked_rows r where k.tenant_id = $2'
                       ' and r.tenant_id = $1 and r.link_id = $3 and r.of = %L and r.key = array[k.id]', v_table, v_table)
        using p_tenant, p_other, p_link;
    end loop;
    update event_work w set source = r.name from event_sources s join linked_rows r
        on r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'event_sources' and r.key = array[s.id]
    where w.tenant_id = p_other and s.tenant_id = p_other and w.source = s.name and s.name <> r.name;
    update events e set source = r.name from event_sources s join linked_rows r
        on r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'event_sources' and r.key = array[s.id]
    where e.tenant_id = p_other and s.tenant_id = p_other and e.source = s.name and s.name <> r.name;
    update identities i set admitted = r.name from linked_rows r
    where i.tenant_id = p_other and r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'identities'
      and r.key = array[i.id];
    update event_sources s set name = r.name from linked_rows r
    where s.tenant_id = p_other and r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'event_sources'
      and r.key = array[s.id];
    delete from memories m using links l
    where m.tenant_id = p_tenant and l.tenant_id = p_tenant and l.id = p_link and (
        m.turn_id in (select t.id from turns t where t.tenant_id = p_other)
        or m.created_at > l.linked_at and m.kind <> 'told' and m.turn_id is not null);
    delete from profile_facts f where f.tenant_id = p_tenant and f.turn_id in (
        select t.id from turns t where t.tenant_id = p_other);
    update memories m set superseded_by = null, valid_to = null
    where m.tenant_id in (p_tenant, p_other) and m.superseded_by is not null and not exists (
        select from memories n where n.tenant_id = m.tenant_id and n.id = m.superseded_by);
    update profile_facts f set replaced_by = null
    where f.tenant_id in (p_tenant, p_other) and f.replaced_by is not null and not exists (
        select from profile_facts n where n.tenant_id = f.tenant_id and n.id = f.replaced_by);
end $_$;

CREATE FUNCTION public.part_places(p_tenant text, p_other text, p_turn text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    update outbound o set state = 'failed', reason = 'this place was unlinked', owner = null, lease_until = null
    where o.tenant_id in (p_tenant, p_other) and o.state = 'ready' and o.kind <> 'receipt';
    delete from outbound o where o.tenant_id = p_other and o.state = 'held';
    update turns t set state = 'done', reason = 'unlinked', finished_at = clock_timestamp()
    where t.tenant_id = p_other and t.id = p_turn and t.state = 'running';
    update inbound i set state = 'done', reason = 'unlinked'
    where i.tenant_id = p_other and i.turn_id = p_turn and i.state = 'taken';
    update turns t set owner = '' where t.tenant_id = p_other and t.state = 'running';
    update lanes l set owner = null, lease_until = null, fence = l.fence + 1, pending = exists (
        select from turns t where t.tenant_id = p_other and t.lane_id = l.id and (t.state = 'running' or t.ready))
        or exists (select from inbound i where i.tenant_id = p_other and i.conversation_id = l.conversation_id
                   and i.state = 'waiting'), pending_since = coalesce(l.pending_since, clock_timestamp())
    where l.tenant_id = p_other;
    perform close_questions(p_other, c.id) from conversations c where c.tenant_id = p_other;
    update conversations c set session = c.session + 1 where c.tenant_id in (p_tenant, p_other);
end $$;

CREATE FUNCTION public.part_values(p_tenant text, p_other text, p_link text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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
        insert into stored_values values (p_other, v_row.key[1], v_row.name, v_row.number, v_row.value, v_row.created_at);
        if not v_row.copied then
            delete from stored_values v
            where v.tenant_id = p_tenant and v.collection = v_row.key[1] and v.key = v_row.key[2];
        end if;
    end loop;
end $$;

CREATE FUNCTION public.prefer_account(p_tenant text, p_service text, p_account text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Locked in one order first: of two choices at once the later one counts.
    perform 1 from credentials c where c.tenant_id = p_tenant and c.service = p_service
    order by c.account_name for update;
    if not exists (select from credentials c
                   where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account) then
        return false;
    end if;
    update credentials c set preferred = false
    where c.tenant_id = p_tenant and c.service = p_service and c.preferred and c.account_name <> p_account;
    update credentials c set preferred = true
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account and not c.preferred;
    return true;
end $$;

CREATE FUNCTION public.probe_write() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    perform set_config('lock_timeout', '1s', true);
    truncate write_probe;
    insert into write_probe select repeat('x', 4000) from generate_series(1, 32);
end $$;

CREATE FUNCTION public.process_of(p_owner text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $_$ select regexp_replace(p_owner, '/[^/]*$', '') $_$;

CREATE FUNCTION public.process_quiet(p_process text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select not exists (
        select 1 from lanes l
        where l.owner is not null and process_of(l.owner) = p_process
          and not exists (select 1 from turns t
                          where t.tenant_id = l.tenant_id and t.lane_id = l.id and t.state = 'running'
                            and t.owner = l.owner and t.tried_at + suspect_quiet() <= clock_timestamp()))
$$;

CREATE FUNCTION public.prune_events(p_before timestamp with time zone, p_limit integer) RETURNS TABLE(pruned bigint, left_over bigint)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    with old as materialized (
        select o.tenant_id, o.source, o.id from events o where o.received_at < p_before
            order by o.received_at limit p_limit for update skip locked),
    gone as (
        delete from events e using old o
        where e.tenant_id = o.tenant_id and e.source = o.source and e.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

CREATE FUNCTION public.prune_notifications(p_before timestamp with time zone, p_limit integer) RETURNS TABLE(pruned bigint, left_over bigint)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    with old as materialized (
        select o.tenant_id, o.id from notifications o
            where o.at < p_before and o.state not in ('held', 'owed', 'failed')
            order by o.at limit p_limit for update skip locked),
    gone as (
        delete from notifications n using old o
        where n.tenant_id = o.tenant_id and n.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

CREATE FUNCTION public.prune_runs(p_kept interval, p_limit integer) RETURNS TABLE(pruned bigint, left_over bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_run record;
    v_pruned bigint := 0;
begin
    for v_run in select r.tenant_id, r.id, r.turn_id from task_runs r
                 where r.finished_at < clock_timestamp() - p_kept
                 order by r.finished_at limit p_limit for update skip locked
    loop
        if v_run.turn_id is not null then
            update history h set turn_id = null where h.tenant_id = v_run.tenant_id and h.turn_id = v_run.turn_id;
            update outbound o set turn_id = null where o.tenant_id = v_run.tenant_id and o.turn_id = v_run.turn_id;
            update inbound i set turn_id = null where i.tenant_id = v_run.tenant_id and i.turn_id = v_run.turn_id;
            delete from lanes l where l.tenant_id = v_run.tenant_id and l.id = v_run.id;
        end if;
        delete from task_runs r where r.tenant_id = v_run.tenant_id and r.id = v_run.id;
        v_pruned := v_pruned + 1;
    end loop;
    return query select v_pruned, greatest(0, p_limit - v_pruned);
end $$;

CREATE FUNCTION public.prune_tasks(p_kept interval, p_limit integer) RETURNS TABLE(pruned bigint, left_over bigint)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    with old as materialized (
        select o.tenant_id, o.id from tasks o
            where o.ended_at < clock_timestamp() - p_kept
              and not exists (select 1 from task_runs r where r.tenant_id = o.tenant_id and r.task_id = o.id)
            order by o.ended_at limit p_limit for update skip locked),
    gone as (
        delete from tasks t using old o
        where t.tenant_id = o.tenant_id and t.id = o.id
        returning 1)
    select count(*), greatest(0, p_limit - count(*)) from gone
$$;

CREATE FUNCTION public.publish_event(p_tenant text, p_source text, p_id text, p_also text, p_type text, p_data jsonb, p_occurred_at timestamp with time zone) RETURNS text[]
    LANGUAGE plpgsql
    AS $$
declare
    v_groups text[];
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if p_also <> '' and exists (select 1 from events e
                                where e.tenant_id = p_tenant and e.source = p_source and e.id = p_also) then
        return null;
    end if;
    insert into events (tenant_id, source, id, type, data, occurred_at)
    values (p_tenant, p_source, p_id, p_type, p_data, coalesce(p_occurred_at, clock_timestamp()))
    on conflict on constraint events_pkey do nothing;
    if not found then
        return null;
    end if;
    with added as (
        insert into event_work (tenant_id, source, event_id, group_name)
        select distinct p_tenant, p_source, p_id, g.name from event_groups g
        where p_source || ':' || p_type like g.pattern
        returning group_name)
    select array_agg(a.group_name) into v_groups from added a;
    return coalesce(v_groups, '{}');
end $$;

CREATE FUNCTION public.publish_source_event(p_tenant text, p_source_id text, p_source text, p_id text, p_also text, p_type text, p_data jsonb, p_occurred_at timestamp with time zone) RETURNS TABLE(current boolean, groups text[])
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform from event_sources s
    where s.tenant_id = p_tenant and s.id = p_source_id and s.name = p_source for key share;
    if found then
        return query select true, publish_event(p_tenant, p_source, p_id, p_also, p_type, p_data, p_occurred_at);
    else
        return query select false, null::text[];
    end if;
end $$;

CREATE FUNCTION public.put_off_look(p_tenant text, p_task text, p_begun integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tasks t set looks_begun = p_begun
    where t.tenant_id = p_tenant and t.id = p_task and t.looks_begun = p_begun + 1;
    return found;
end $$;

CREATE FUNCTION public.put_off_outbound(p_tenant text, p_outbound text, p_fence bigint, p_delay interval) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set state = 'ready', attempts = o.attempts + 1, owner = null, lease_until = null,
        next_attempt_at = clock_timestamp() + p_delay
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

CREATE FUNCTION public.put_value(p_tenant text, p_collection text, p_key text, p_value jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    v_number bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Locks the collection: two new keys at once get two numbers.
    insert into stored_collections as c (tenant_id, name) values (p_tenant, p_collection)
    on conflict (tenant_id, name) do update set last_number = c.last_number;
    update stored_values v set value = p_value
    where v.tenant_id = p_tenant and v.collection = p_collection and v.key = p_key
    returning v.number into v_number;
    if found then
        return v_number;
    end if;
    update stored_collections c set last_number = c.last_number + 1
    where c.tenant_id = p_tenant and c.name = p_collection
    returning c.last_number into v_number;
    insert into stored_values (tenant_id, collection, key, number, value)
    values (p_tenant, p_collection, p_key, v_number, p_value);
    return v_number;
end $$;

CREATE FUNCTION public.rank_of(p_role text) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
    select case p_role when 'owner' then 3 when 'member' then 2 else 1 end
$$;

CREATE FUNCTION public.read_credentials(p_tenant text, p_service text, p_account text) RETURNS TABLE(sealed bytea, version integer, secret_key_id text, wrapped bytea)
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select c.credentials_json, d.version, d.secret_key_id, d.wrapped
    from credentials c join data_keys d on d.tenant_id = c.tenant_id and d.version = c.key_version
    where c.tenant_id = p_tenant and c.service = p_service and c.account_name = p_account;
end $$;

CREATE FUNCTION public.read_data_key(p_tenant text, p_version integer) RETURNS TABLE(version integer, secret_key_id text, wrapped bytea)
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select d.version, d.secret_key_id, d.wrapped from data_keys d
    where d.tenant_id = p_tenant and (p_version is null or d.version = p_version)
    order by d.version desc limit 1;
end $$;

CREATE FUNCTION public.read_person(p_tenant text) RETURNS TABLE(name text, language text, timezone text, preferred_channel text, quiet_from text, quiet_until text, while_running text, channels text[], muted text[])
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select t.name, t.language, t.timezone, t.preferred_channel, t.quiet_from, t.quiet_until,
        t.while_running,
        array(select i.channel from identities i where i.tenant_id = p_tenant and i.state = 'active'
              group by i.channel order by i.channel),
        t.muted
    from tenants t where t.tenant_id = p_tenant;
end $$;

CREATE FUNCTION public.read_profile(p_tenant text) RETURNS TABLE(number bigint, key text, value text, source text, since timestamp with time zone)
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select f.number, f.key, f.value, f.source, f.since from profile_facts f
    where f.tenant_id = p_tenant and f.replaced_by is null and f.undone_at is null order by f.number;
end $$;

CREATE FUNCTION public.read_profile_words(p_tenant text, p_turns text[]) RETURNS TABLE(turn_id text, text text)
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select i.turn_id, i.text from inbound i
    where i.tenant_id = p_tenant and i.turn_id = any (p_turns) and i.command is null and i.text <> ''
      and i.origin = 'own'
    order by i.received_at, i.seq;
end $$;

CREATE FUNCTION public.read_values(p_tenant text, p_collection text, p_key text) RETURNS TABLE(key text, number bigint, value jsonb)
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select v.key, v.number, v.value from stored_values v
    where v.tenant_id = p_tenant and v.collection = p_collection and (p_key is null or v.key = p_key)
    order by v.number;
end $$;

CREATE FUNCTION public.receive_exact(p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_text text, p_provider_id text, p_sent_at timestamp with time zone, p_name text, p_timezone text, p_new_tenant text, p_new_identity text, p_new_conversation text, p_admit text, p_listed_only boolean, p_role text, p_verb text, p_code text, p_given text, p_fresh text, p_snooze interval, p_now timestamp with time zone, p_outbound text, p_say jsonb, p_draw jsonb, p_reply_to text) RETURNS TABLE(inbound_id text, duplicate boolean, tenant_id text, lane_id text, conversation_id text, outcome text, woken text[])
    LANGUAGE plpgsql
    AS $$
declare
    v_in record;
    v_identity text;
    v_meant record;
    v_state text;
    v_said text[] := '{}';
    v_woken text[] := '{}';
    v_turn text;
    v_one text;
    v_count int := 0;
    v_code text := p_code;
    v_number text;
    v_again boolean;
begin
    v_again := was_received(p_channel, p_account, p_keys, p_id);
    select r.* into v_in from receive_message(
        p_id, p_channel, p_account, p_peer, p_thread, p_user_key, p_keys, p_text, '[]', null, p_provider_id, p_sent_at,
        p_name, p_timezone, p_new_tenant, p_new_identity, p_new_conversation, p_admit, p_listed_only, p_role) r;
    if v_again and v_in.inbound_id = p_id and v_in.lane_id is null then
        return query select p_id, false, v_in.tenant_id, null::text, d.conversation_id, d.outcome, d.woken
        from decided_before(v_in.tenant_id, p_id, 'decision: ') d;
        return;
    end if;
    -- What was no decision the first time is none now: another card may have come since.
    if v_in.inbound_id is null or v_in.duplicate or v_in.lane_id is null or v_again then
        return query select v_in.inbound_id, v_in.duplicate, v_in.tenant_id, v_in.lane_id, null::text, '', v_woken;
        return;
    end if;
    if v_code = '' and p_reply_to <> '' then
        -- A bare word that answers one message is about that one, whatever was said last.
        perform note_reply_to(v_in.tenant_id, p_id, p_reply_to);
        v_code := coalesce(answered_card(v_in.tenant_id, v_in.lane_id, p_reply_to), '-');
    end if;
    select f.identity_id into v_identity from find_identity(p_channel, p_account, p_user_key) f;
    select count(*) into v_count from meant_approvals(v_in.tenant_id, v_in.lane_id, p_id, '', p_now);
    if v_code = '' and (v_count = 0 or (v_count > 1 and not p_say ? 'needs_code')) then
        return query select v_in.inbound_id, false, v_in.tenant_id, v_in.lane_id, null::text, '', v_woken;
        return;
    end if;
    if p_say ? 'guessed' and p_code not in ('', 'ALL')
       and wrong_codes(v_in.tenant_id, v_in.lane_id, p_id) >= 5 then
        v_again := exists (
            select 1 from inbound i where i.tenant_id = v_in.tenant_id and i.conversation_id = v_in.lane_id
              and i.reason = 'decision: guessed' and i.received_at > clock_timestamp() - interval '1 hour');
        update inbound i set state = 'done', reason = 'decision: guessed'
        where i.tenant_id = v_in.tenant_id and i.id = p_id;
        if not v_again then
            perform owe(v_in.tenant_id, v_in.lane_id, null, jsonb_build_array(jsonb_build_object(
                'id', p_outbound, 'kind', 'receipt', 'text', p_say ->> 'guessed')));
        end if;
        return query select p_id, false, v_in.tenant_id, null::text, v_in.lane_id, 'guessed', v_woken;
        return;
    end if;
    if p_say ? 'needs_code' and v_code in ('', 'ALL') then
        v_said := array(
            select tell_outcome(v_in.tenant_id, a.id, p_say ->> 'needs_code', '') from approvals a
            where a.tenant_id = v_in.tenant_id and a.id in (
                select m.approval_id from meant_approvals(v_in.tenant_id, v_in.lane_id, p_id, '', p_now) m
                union select m.approval_id from meant_approvals(v_in.tenant_id, v_in.lane_id, p_id, 'ALL', p_now) m)
            order by a.created_at, a.id limit 10);
        if v_said <> '{}' then
            update inbound i set state = 'done', reason = 'decision: needs_code'
            where i.tenant_id = v_in.tenant_id and i.id = p_id;
            perform owe(v_in.tenant_id, v_in.lane_id, null, jsonb_build_array(jsonb_build_object(
                'id', p_outbound, 'kind', 'receipt', 'text', array_to_string(v_said, E'\n'))));
            return query select p_id, false, v_in.tenant_id, null::text, v_in.lane_id, 'needs_code', v_woken;
            return;
        end if;
    end if;
    v_count := 0;
    for v_meant in select * from meant_approvals(v_in.tenant_id, v_in.lane_id, p_id, v_code, p_now) loop
        v_count := v_count + 1;
        v_one := v_meant.approval_id;
        select t.outcome, t.lane_id into v_state, v_turn from take_exact(
            v_in.tenant_id, v_one, p_verb, v_identity, p_channel, p_given, p_fresh, p_snooze, p_now, p_draw) t;
        if v_turn is not null then
            v_woken := v_woken || v_turn;
        end if;
        v_said := v_said || tell_outcome(v_in.tenant_id, v_one, p_say ->> v_state, p_fresh);
        if v_state = 'confirm' then
            v_number := v_one;
        end if;
    end loop;
    if v_count = 0 and p_code <> 'ALL' then
        return query select v_in.inbound_id, false, v_in.tenant_id, v_in.lane_id, null::text, '', v_woken;
        return;
    end if;
    if v_count = 0 then
        v_said := array[p_say ->> 'nothing'];
        v_state := 'nothing';
    end if;
    update inbound i set state = 'done', reason = 'decision: ' || v_state,
        text = case when p_given = '' then i.text else replace(i.text, p_given, '') end,
        turn_id = (select a.turn_id from approvals a where a.tenant_id = v_in.tenant_id and a.id = v_one)
    where i.tenant_id = v_in.tenant_id and i.id = p_id;
    perform owe(v_in.tenant_id, v_in.lane_id, null, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'receipt', 'text', array_to_string(v_said, E'\n'), 'shows', v_number)));
    return query select v_in.inbound_id, false, v_in.tenant_id, null::text, v_in.lane_id, v_state, v_woken;
end $$;

CREATE FUNCTION public.receive_message(p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_text text, p_media jsonb, p_command jsonb, p_provider_id text, p_sent_at timestamp with time zone, p_name text, p_timezone text, p_new_tenant text, p_new_identity text, p_new_conversation text, p_admit text, p_listed_only boolean, p_role text) RETURNS TABLE(inbound_id text, duplicate boolean, tenant_id text, lane_id text)
    LANGUAGE plpgsql
    AS $$
declare
    v_tenant text;
    v_identity text;
    v_state text;
    v_admitted text;
    v_conversation text;
    v_owner text;
    v_known text;
    v_seq bigint;
    v_added int;
    v_stopping text;
begin
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    if v_tenant is not null then
        perform set_config('onevalet.tenant', v_tenant, true);
        select i.admitted into v_admitted from identities i where i.tenant_id = v_tenant and i.id = v_identity;
    end if;
    if coalesce(v_admitted, '') = '' or (p_listed_only and v_admitted in ('open', 'allowlist')) then
        if p_admit = '' then
            return query select null::text, false, null::text, null::text;
            return;
        end if;
    end if;
    -- What was kept without its text because nobody knew the sender is not taken in later.
    if exists (select 1 from ignored_messages g
               where g.channel = p_channel and g.account = p_account and g.key = any (p_keys)
                 and g.reason = 'unknown') then
        return query select p_keys[1], true, null::text, null::text;
        return;
    end if;
    if v_tenant is null then
        select a.tenant_id, a.identity_id into v_tenant, v_identity
        from admit_identity(p_channel, p_account, p_user_key, p_name, p_timezone, p_new_tenant, p_new_identity,
                            p_admit, p_role) a;
        perform set_config('onevalet.tenant', v_tenant, true);
    end if;
    if p_admit <> '' then
        update identities i set admitted = p_admit
        where i.tenant_id = v_tenant and i.id = v_identity and i.admitted = '';
        if found then
            update tenants t set role = p_role where t.tenant_id = v_tenant;
        end if;
    end if;
    v_conversation := open_conversation(
        v_tenant, v_identity, p_channel, p_account, p_peer, p_thread, p_new_conversation);
    -- From here to the commit this conversation is ours: duplicates and seq are decided one at a time.
    perform 1 from conversations c where c.tenant_id = v_tenant and c.id = v_conversation for update;
    select i.state into v_state from identities i where i.tenant_id = v_tenant and i.id = v_identity;

    select r.tenant_id, r.inbound_id into v_owner, v_known from find_received(p_channel, p_account, p_keys) r;
    if v_known is not null then
        insert into inbox_keys (channel, account, key, tenant_id, inbound_id)
        select p_channel, p_account, k, v_tenant, v_known from unnest(p_keys) k where v_owner = v_tenant order by k
        on conflict (channel, account, key) do nothing;
        -- Our own id: this very call committed before, and its answer was lost.
        return query select v_known, v_known <> p_id, v_owner,
            (select i.conversation_id from inbound i
             where i.tenant_id = v_tenant and i.id = p_id and i.state = 'waiting');
        return;
    end if;

    update conversations c set in_seq = c.in_seq + 1, last_inbound_at = clock_timestamp()
    where c.tenant_id = v_tenant and c.id = v_conversation returning c.in_seq into v_seq;
    -- A stop does not queue: it is a flag on the running turn, which the loop looks at between its steps.
    if p_command ->> 'name' = 'stop' and v_state <> 'stopped' then
        update turns t set stop_message = coalesce(p_command ->> 'argument', '')
        where t.tenant_id = v_tenant and t.lane_id = v_conversation and t.state = 'running'
        returning t.id into v_stopping;
    end if;
    insert into inbound (tenant_id, id, conversation_id, seq, text, media, command, provider_id, sent_at,
                         state, reason, turn_id)
    values (v_tenant, p_id, v_conversation, v_seq,
            case when v_state = 'stopped' then '' else p_text end,
            case when v_state = 'stopped' then '[]' else p_media end,
            case when v_state = 'stopped' then null else p_command end, p_provider_id, p_sent_at,
            case when v_state = 'stopped' then 'ignored' when v_stopping is not null then 'done' else 'waiting' end,
            case when v_state = 'stopped' then 'stopped' when v_stopping is not null then 'stop' else '' end,
            v_stopping);
    insert into inbox_keys (channel, account, key, tenant_id, inbound_id)
    select p_channel, p_account, k, v_tenant, p_id from unnest(p_keys) k order by k
    on conflict (channel, account, key) do nothing;
    get diagnostics v_added = row_count;
    if v_added < (select count(distinct k) from unnest(p_keys) k) then
        -- The same message is being taken in through another conversation at this moment.
        raise exception 'inbox key taken meanwhile' using errcode = 'serialization_failure';
    end if;
    perform mark_channel(p_channel, p_account, true);
    if v_state = 'stopped' or v_stopping is not null then
        return query select p_id, false, v_tenant, null::text;
        return;
    end if;
    if v_state = 'blocked' then
        update identities i set state = 'active', state_reason = 'wrote again', state_at = clock_timestamp()
        where i.tenant_id = v_tenant and i.id = v_identity;
    end if;
    insert into lanes as l (tenant_id, id, conversation_id, pending, pending_since)
    values (v_tenant, v_conversation, v_conversation, true, clock_timestamp())
    on conflict on constraint lanes_pkey do update
    set pending = true, pending_since = coalesce(l.pending_since, excluded.pending_since);
    return query select p_id, false, v_tenant, v_conversation;
end $$;

CREATE FUNCTION public.receive_press(p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_provider_id text, p_new_conversation text, p_verb text, p_token text, p_entered jsonb, p_now timestamp with time zone, p_outbound text, p_say jsonb, p_draw jsonb, p_has_forms boolean, p_listed_only boolean) RETURNS TABLE(inbound_id text, duplicate boolean, tenant_id text, lane_id text, conversation_id text, outcome text, said text, form jsonb, woken text[])
    LANGUAGE plpgsql
    AS $$
declare
    v_tenant text;
    v_approval text;
    v_own text;
    v_identity text;
    v_in record;
    v_outcome text;
    v_woken text[] := '{}';
    v_owed text;
    v_again boolean;
begin
    v_again := was_received(p_channel, p_account, p_keys, p_id);
    select f.tenant_id, f.approval_id into v_tenant, v_approval from find_approval(p_token) f;
    select f.tenant_id, f.identity_id into v_own, v_identity from find_identity(p_channel, p_account, p_user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_own, ''), true);
    if v_tenant is null or v_own is distinct from v_tenant
       or not exists (select 1 from identities i where i.tenant_id = v_own and i.id = v_identity and i.state = 'active'
                      and i.admitted <> '' and not (p_listed_only and i.admitted in ('open', 'allowlist'))) then
        v_outcome := case when v_tenant is null then 'unknown' else 'not_yours' end;
        if ignore_message(p_channel, p_account, p_keys, 'unsupported') and v_tenant is not null then
            perform set_config('onevalet.tenant', v_tenant, true);
            perform audit_approval(v_tenant, v_approval, p_now, 'refused', '', p_channel, p_verb, '{}');
        end if;
        return query select p_keys[1], false, null::text, null::text, null::text, v_outcome, p_say ->> v_outcome,
                            null::jsonb, '{}'::text[];
        return;
    end if;
    select r.* into v_in from receive_message(
        p_id, p_channel, p_account, p_peer, p_thread, p_user_key, p_keys, '', '[]', null, p_provider_id, null,
        '', '', '', '', p_new_conversation, '', false, '') r;
    if v_in.inbound_id is null or v_in.duplicate then
        v_outcome := why_decided(v_tenant, v_approval, p_now);
        return query select coalesce(v_in.inbound_id, p_keys[1]), true, v_tenant, null::text, null::text, v_outcome,
                            tell_outcome(v_tenant, v_approval, p_say ->> v_outcome, ''), null::jsonb, '{}'::text[];
        return;
    end if;
    if v_again then
        select d.outcome, d.conversation_id, d.woken into v_outcome, v_owed, v_woken
        from decided_before(v_tenant, p_id, 'press: ') d;
    else
        select i.conversation_id into v_owed from inbound i where i.tenant_id = v_tenant and i.id = p_id;
        select t.outcome, case when t.lane_id is null then '{}' else array[t.lane_id] end into v_outcome, v_woken
        from take_press(v_tenant, v_approval, v_identity, p_channel, p_verb, p_entered, p_now, p_draw, p_has_forms) t;
        if v_outcome = 'ask_change' then
            perform owe(v_tenant, v_owed, null, jsonb_build_array(jsonb_build_object(
                'id', p_outbound, 'kind', 'reply', 'wants_reply', true, 'shows', v_approval,
                'text', tell_outcome(v_tenant, v_approval, p_say ->> 'ask_change', ''))));
        end if;
        update inbound i set state = 'done', reason = 'press: ' || v_outcome,
            turn_id = (select a.turn_id from approvals a where a.tenant_id = v_tenant and a.id = v_approval)
        where i.tenant_id = v_tenant and i.id = p_id;
    end if;
    return query select p_id, false, v_tenant, null::text, case when v_outcome = 'ask_change' then v_owed end, v_outcome,
        tell_outcome(v_tenant, v_approval, p_say ->> v_outcome, ''),
        case when v_outcome in ('edit', 'details') and p_entered is null then form_shown(v_tenant, v_approval) end, v_woken;
end $$;

CREATE FUNCTION public.reconsider_held() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update notifications n set not_before = '-infinity' where n.tenant_id = new.tenant_id and n.state = 'held';
    return null;
end $$;

CREATE FUNCTION public.record_look(p_tenant text, p_task text, p_revision integer, p_watch jsonb, p_next timestamp with time zone, p_runs jsonb) RETURNS SETOF text
    LANGUAGE plpgsql
    AS $$
declare
    v_run jsonb;
    v_lane text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update tasks t
    set watch = p_watch, revision = t.revision + 1, due_at = p_next, next_at = p_next,
        state = case when p_next is null then 'COMPLETED' else t.state end
    where t.tenant_id = p_tenant and t.id = p_task and t.revision = p_revision and t.state = 'ACTIVE';
    if not found then
        return;
    end if;
    for v_run in select * from jsonb_array_elements(p_runs) loop
        v_lane := start_run(p_tenant, p_task, v_run);
        update tasks t set fired = t.fired + (v_run ->> 'state' = 'QUEUED')::int
        where t.tenant_id = p_tenant and t.id = p_task;
        if v_lane is not null then
            return next v_lane;
        end if;
    end loop;
end $$;

CREATE FUNCTION public.record_step(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_kind text, p_name text, p_args_hash text, p_effect text, p_state text, p_outcome text, p_idempotency_key text, p_result jsonb, p_usage jsonb, p_duration_ms integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform hold_lane(p_tenant, p_lane, p_fence);
    if not exists (select 1 from turns t where t.tenant_id = p_tenant and t.id = p_turn
                   and t.fence = p_fence and t.state = 'running') then
        -- The lane is ours, but its turn has ended: what still writes is a left-over of it.
        raise exception 'turn over' using errcode = 'OV001';
    end if;
    insert into steps as s (tenant_id, turn_id, agent_path, step, call_index, kind, name, args_hash, effect,
                            state, outcome, idempotency_key, result, usage, duration_ms, finished_at)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, p_kind, p_name, p_args_hash, p_effect,
            p_state, p_outcome, p_idempotency_key, p_result, p_usage, p_duration_ms,
            case when p_state = 'done' then clock_timestamp() end)
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set state = excluded.state, outcome = excluded.outcome, result = excluded.result, usage = excluded.usage,
        duration_ms = excluded.duration_ms, finished_at = excluded.finished_at
    where s.state = 'started';
end $$;

CREATE FUNCTION public.redeem_pairing(p_id text, p_code_hash bytea, p_role text, p_tier text, p_now timestamp with time zone, p_most integer, p_window interval) RETURNS TABLE(outcome text, channel text, account text, user_key text, until timestamp with time zone)
    LANGUAGE plpgsql
    AS $$
declare
    v_until timestamptz;
    v_code pairings%rowtype;
    v_outcome text;
    v_tenant text;
    v_identity text;
begin
    v_until := next_guess('pair', p_most, p_window, p_now);
    if v_until is not null then
        return query select 'limited', '', '', '', v_until;
        return;
    end if;
    select * into v_code from pairings p where p.code_hash = p_code_hash for update;
    if v_code.code_hash is not null and v_code.used_by = p_id then
        return query select 'paired', v_code.channel, v_code.account, v_code.user_key, v_until;
        return;
    end if;
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(v_code.channel, v_code.account, v_code.user_key) f;
    v_outcome := case when v_code.code_hash is null then 'wrong'
                      when v_code.used_at is not null then 'used'
                      when v_code.expires_at <= p_now or v_tenant is null then 'expired' end;
    if v_outcome is not null then
        perform add_guess('pair', p_now);
        return query select v_outcome, '', '', '', v_until;
        return;
    end if;
    update pairings p set used_at = p_now, used_by = p_id where p.code_hash = p_code_hash;
    perform set_config('onevalet.tenant', v_tenant, true);
    -- The code has done its work: it is not kept in clear.
    update outbound_parts e set text = '(This code was used.)', data = '{}'
    from outbound o join identities i on i.tenant_id = o.tenant_id and i.admitted = ''
    where e.tenant_id = v_tenant and o.tenant_id = e.tenant_id and o.id = e.outbound_id;
    update outbound o set text = '(This code was used.)' from identities i
    where o.tenant_id = v_tenant and i.tenant_id = o.tenant_id and i.admitted = '';
    update identities i set admitted = 'pairing' where i.tenant_id = v_tenant and i.id = v_identity;
    update tenants t set role = p_role, tier = p_tier where t.tenant_id = v_tenant;
    return query select 'paired', v_code.channel, v_code.account, v_code.user_key, v_until;
end $$;

CREATE FUNCTION public.refuse_overload(p_tenant text, p_inbound text, p_of_person integer, p_of_all integer, p_full text, p_busy text, p_outbound text) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_conversation text;
    v_full boolean;
begin
    if p_tenant is null then
        return null;
    end if;
    perform set_config('onevalet.tenant', p_tenant, true);
    v_full := exists (select 1 from inbound i where i.tenant_id = p_tenant and i.state = 'waiting'
                      offset p_of_person limit 1);
    if not v_full and count_waiting(p_of_all) <= p_of_all then
        -- Refused already: this very call committed before, and its answer was lost.
        return (select '' from inbound i where i.tenant_id = p_tenant and i.id = p_inbound and i.reason = 'overload');
    end if;
    update inbound i set state = 'ignored', reason = 'overload'
    where i.tenant_id = p_tenant and i.id = p_inbound and i.state = 'waiting'
    returning i.conversation_id into v_conversation;
    if v_conversation is null then
        return (select '' from inbound i where i.tenant_id = p_tenant and i.id = p_inbound and i.reason = 'overload');
    end if;
    update tenants t set told_full_at = clock_timestamp()
    where t.tenant_id = p_tenant and coalesce(t.told_full_at < clock_timestamp() - interval '10 minutes', true);
    if not found then
        return '';
    end if;
    perform owe(p_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'reply', 'text', case when v_full then p_full else p_busy end)));
    return v_conversation;
end $$;

CREATE FUNCTION public.reissue_approvals(p_tenant text, p_outcome text, p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    v_row record;
    v_count int := 0;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    for v_row in select a.id, a.turn_id from approvals a where a.tenant_id = p_tenant and a.state = 'pending'
                 order by a.turn_id, a.id
    loop
        perform hold_turn(p_tenant, v_row.turn_id);
        update approvals a set state = 'replaced', reason = 'reissued', decided_at = p_now, decided_how = 'reissue'
        where a.tenant_id = p_tenant and a.id = v_row.id and a.state = 'pending';
        if found then
            perform audit_approval(p_tenant, v_row.id, p_now, 'reissued', '', '', '', '{}');
            perform draw_outcome(p_tenant, v_row.id, p_outcome, p_now);
            perform wake_turn(p_tenant, v_row.turn_id);
            v_count := v_count + 1;
        end if;
    end loop;
    return v_count;
end $$;

CREATE FUNCTION public.release_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    delete from reservations r
    where r.tenant_id = p_tenant and r.turn_id = p_turn and r.agent_path = p_agent_path and r.step = p_step
      and r.call_index = p_call_index and not r.settled;
end $$;

CREATE FUNCTION public.release_outbound(p_tenant text, p_outbound text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select o.conversation_id into v_conversation from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    update outbound o
    set state = 'ready', seq = c.out_seq + 1, next_attempt_at = clock_timestamp()
    from conversations c
    where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held'
      and c.tenant_id = p_tenant and c.id = v_conversation;
    if not found then
        return false;
    end if;
    update conversations c set out_seq = c.out_seq + 1 where c.tenant_id = p_tenant and c.id = v_conversation;
    return true;
end $$;

CREATE FUNCTION public.release_poll(p_channel text, p_account text, p_owner text) RETURNS void
    LANGUAGE sql
    AS $$
    update channel_state s set owner = null, lease_until = null
    where s.channel = p_channel and s.account = p_account and s.owner = p_owner
$$;

CREATE FUNCTION public.release_stream() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform release_outbound(o.tenant_id, o.id) from outbound o
    where o.tenant_id = new.tenant_id and o.turn_id = new.id and o.state = 'held' and o.stream_at is not null;
    return null;
end $$;

CREATE FUNCTION public.remind_approval(p_tenant text, p_approval text, p_text text, p_outbound text, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_conversation text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select a.conversation_id into v_conversation from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_conversation for update;
    update approvals a set remind_at = null
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending' and a.remind_at <= p_now;
    if not found then
        return null;
    end if;
    perform audit_approval(p_tenant, p_approval, p_now, 'reminded', '', '', '', '{}');
    perform owe(p_tenant, v_conversation, null, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'notification', 'text', tell_outcome(p_tenant, p_approval, p_text, ''))));
    return v_conversation;
end $$;

CREATE FUNCTION public.renew_lane(p_tenant text, p_lane text, p_fence bigint, p_ttl interval) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update lanes l set lease_until = clock_timestamp() + p_ttl
    where l.tenant_id = p_tenant and l.id = p_lane and l.fence = p_fence and l.owner is not null;
    return found;
end $$;

CREATE FUNCTION public.reserve_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_day date, p_task text, p_amount numeric, p_cap numeric, p_held interval, p_task_cap numeric DEFAULT NULL::numeric) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_spent numeric;
    v_task_spent numeric;
    v_held numeric;
    v_task_held numeric;
    v_allowed numeric;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    v_spent := lock_spending(p_tenant, p_day);
    delete from reservations r where r.tenant_id = p_tenant and r.day < p_day - 7;
    select coalesce(sum(r.amount), 0), coalesce(sum(r.amount) filter (where r.task_id = p_task), 0)
    into v_held, v_task_held from reservations r
    where r.tenant_id = p_tenant and r.day = p_day and not r.settled and r.held_until > clock_timestamp()
      and (r.turn_id, r.agent_path, r.step, r.call_index) <> (p_turn, p_agent_path, p_step, p_call_index);
    select coalesce(sum(r.allowed), 0) into v_allowed from reservations r
    where r.tenant_id = p_tenant and r.turn_id = p_turn;
    if v_spent + v_held + p_amount > p_cap + v_allowed then
        return 'day';
    end if;
    if p_task <> '' and p_task_cap is not null then
        select coalesce(max(s.spent), 0) into v_task_spent from spending s
        where s.tenant_id = p_tenant and s.day = p_day and s.task_id = p_task;
        if v_task_spent + v_task_held + p_amount > p_task_cap + v_allowed then
            return 'task';
        end if;
    end if;
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, held_until)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, p_day, p_task, p_amount, clock_timestamp() + p_held)
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set day = excluded.day, amount = excluded.amount, held_until = excluded.held_until
    where not r.settled;
    return '';
end $$;

CREATE FUNCTION public.retry_event(p_tenant text, p_source text, p_id text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update event_work w set state = 'waiting', attempts = 0, next_attempt_at = clock_timestamp(),
        streamed_at = '-infinity', ended_at = null
    where w.tenant_id = p_tenant and w.source = p_source and w.event_id = p_id and w.state = 'poison';
    return found;
end $$;

CREATE FUNCTION public.retry_notices(p_tenant text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    v_count bigint;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update run_notices n set state = 'open', attempts = 0, next_attempt_at = clock_timestamp()
    where n.tenant_id = p_tenant and n.state = 'failed';
    get diagnostics v_count = row_count;
    return v_count;
end $$;

CREATE FUNCTION public.rewrap_data_key(p_tenant text, p_version integer, p_from text, p_to text, p_wrapped bytea) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update data_keys d set secret_key_id = p_to, wrapped = p_wrapped
    where d.tenant_id = p_tenant and d.version = p_version and d.secret_key_id = p_from;
end $$;

CREATE FUNCTION public.rezone_tasks() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update tasks t set rezone = true, next_at = '2000-01-01'
    where t.tenant_id = new.tenant_id and t.state = 'ACTIVE' and t.kind = 'schedule' and t.next_at is not null
      and coalesce(t.trigger ->> 'timezone', '') = '';
    return null;
end $$;

CREATE FUNCTION public.save_credentials(p_tenant text, p_service text, p_account text, p_key_version integer, p_sealed bytea) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    insert into credentials as c (tenant_id, service, account_name, key_version, credentials_json)
    values (p_tenant, p_service, p_account, p_key_version, p_sealed)
    on conflict (tenant_id, service, account_name) do update
    set key_version = excluded.key_version, credentials_json = excluded.credentials_json,
        updated_at = clock_timestamp();
end $$;

CREATE FUNCTION public.say_more(p_tenant text, p_conversation text, p_turn text, p_outbound text, p_within interval) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_last outbound%rowtype;
    v_text text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = p_conversation for update;
    if exists (select 1 from outbound o where o.tenant_id = p_tenant and o.conversation_id = p_conversation
               and o.turn_id = p_turn and o.kind = 'reply') then
        return true;
    end if;
    select o.* into v_last from outbound o
    where o.tenant_id = p_tenant and o.conversation_id = p_conversation and o.kind = 'reply' and o.seq is not null
    order by o.seq desc limit 1;
    if v_last.id is null or v_last.rest = '[]' or v_last.created_at < clock_timestamp() - p_within then
        return false;
    end if;
    select string_agg(v.value ->> 'text', E'\n' order by (v.value ->> 'part')::int) into v_text
    from jsonb_array_elements(v_last.rest -> 0) v;
    perform owe(p_tenant, p_conversation, p_turn,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', v_text)));
    insert into outbound_parts (tenant_id, outbound_id, part, ref, text, data, segments)
    select p_tenant, p_outbound, (v.value ->> 'part')::int, v.value ->> 'ref', v.value ->> 'text',
           v.value -> 'data', (v.value ->> 'segments')::int
    from jsonb_array_elements(v_last.rest -> 0) v;
    update outbound o set rest = case when o.id = p_outbound then v_last.rest - 0 else '[]' end
    where o.tenant_id = p_tenant and o.id in (p_outbound, v_last.id);
    return true;
end $$;

CREATE FUNCTION public.say_once(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_reason text, p_text text, p_outbound text, p_new_conversation text) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_tenant text;
    v_identity text;
    v_conversation text;
begin
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    if not exists (select 1 from identities i where i.tenant_id = v_tenant and i.id = v_identity
                   and i.state = 'active' and i.admitted <> '') then
        return null;
    end if;
    if not ignore_message(p_channel, p_account, array['said:' || p_reason || ':' || p_peer], p_reason) then
        return null;
    end if;
    v_conversation := open_conversation(
        v_tenant, v_identity, p_channel, p_account, p_peer, p_thread, p_new_conversation);
    perform owe(v_tenant, v_conversation, null,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', p_text)));
    return v_conversation;
end $$;

CREATE FUNCTION public.says_any(p_text text, p_phrases text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    select exists (select from unnest(p_phrases) phrase where position(lower(phrase) in lower(p_text)) > 0)
$$;

CREATE FUNCTION public.scrub_numbers(p_now timestamp with time zone, p_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_row record;
    v_count int := 0;
begin
    for v_row in
        select c.tenant_id, c.outbound_id from approval_cards c
        join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
        join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
        where c.role = 'number' and (a.confirm_hash is null or a.confirm_until <= p_now)
          and o.state in ('sent', 'ambiguous', 'failed')
        limit p_most
    loop
        update outbound o set text = regexp_replace(o.text, '\m\d{6}\M', '******', 'g')
        where o.tenant_id = v_row.tenant_id and o.id = v_row.outbound_id;
        update outbound_parts e set text = regexp_replace(e.text, '\m\d{6}\M', '******', 'g')
        where e.tenant_id = v_row.tenant_id and e.outbound_id = v_row.outbound_id;
        delete from approval_cards c where c.tenant_id = v_row.tenant_id and c.outbound_id = v_row.outbound_id;
        v_count := v_count + 1;
    end loop;
    return v_count;
end $$;

CREATE FUNCTION public.seed_person(p_tenant text, p_identities jsonb, p_ids text[], p_name text, p_timezone text, p_role text) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_item record;
    v_tenant text;
    v_found record;
begin
    for v_item in select v.value, v.ordinality from jsonb_array_elements(p_identities) with ordinality v loop
        select * into v_found from find_identity(
            v_item.value ->> 'channel', v_item.value ->> 'account', v_item.value ->> 'user_key');
        if v_found.tenant_id is not null then
            perform set_config('onevalet.tenant', v_found.tenant_id, true);
            update identities i set admitted = 'operator'
            where i.tenant_id = v_found.tenant_id and i.id = v_found.identity_id;
            update tenants t set role = p_role where t.tenant_id = v_found.tenant_id;
            v_tenant := coalesce(v_tenant, v_found.tenant_id);
        else
            v_tenant := coalesce(v_tenant, p_tenant);
            perform set_config('onevalet.tenant', v_tenant, true);
            insert into tenants (tenant_id, name, timezone, role) values (v_tenant, p_name, p_timezone, p_role)
            on conflict (tenant_id) do nothing;
            insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted)
            values (v_tenant, p_ids[v_item.ordinality], v_item.value ->> 'channel', v_item.value ->> 'account',
                    v_item.value ->> 'user_key', p_name, p_timezone, 'operator');
        end if;
    end loop;
    return v_tenant;
end $$;

CREATE FUNCTION public.set_aside_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_left boolean;
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    v_left := exists (select 1 from deliveries d where d.tenant_id = p_tenant and d.outbound_id = p_outbound
                      and d.outcome in ('started', 'ambiguous', 'accepted', 'found'));
    update outbound o
    set state = case when v_left then 'ambiguous' else 'failed' end, reason = p_reason, owner = null, lease_until = null
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

CREATE FUNCTION public.set_aside_redraw(p_tenant text, p_outbound text, p_fence bigint, p_reason text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update redraws r set state = 'given_up', reason = p_reason, lease_until = null
    where r.tenant_id = p_tenant and r.outbound_id = p_outbound and r.fence = p_fence and r.state = 'due';
end $$;

CREATE FUNCTION public.set_tenant(p_tenant text) RETURNS text
    LANGUAGE sql
    AS $$
    select set_config('onevalet.tenant', p_tenant, true)
$$;

CREATE FUNCTION public.settle_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_day date, p_task text, p_cost numeric) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_day date;
    v_amount numeric;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select r.day into v_day from reservations r
    where r.tenant_id = p_tenant and r.turn_id = p_turn and r.agent_path = p_agent_path and r.step = p_step
      and r.call_index = p_call_index;
    v_day := coalesce(v_day, p_day);
    perform lock_spending(p_tenant, v_day);
    insert into reservations as r (tenant_id, turn_id, agent_path, step, call_index, day, task_id, amount, settled,
                                   held_until)
    values (p_tenant, p_turn, p_agent_path, p_step, p_call_index, v_day, p_task, coalesce(p_cost, 0), true,
            clock_timestamp())
    on conflict (tenant_id, turn_id, agent_path, step, call_index) do update
    set settled = true, amount = coalesce(p_cost, r.amount)
    where not r.settled
    returning r.amount into v_amount;
    if v_amount is null then
        return;
    end if;
    update spending s set spent = s.spent + v_amount
    where s.tenant_id = p_tenant and s.day = v_day and s.task_id = '';
    if p_task <> '' then
        insert into spending as s (tenant_id, day, task_id, spent) values (p_tenant, v_day, p_task, v_amount)
        on conflict (tenant_id, day, task_id) do update set spent = s.spent + excluded.spent;
    end if;
end $$;

CREATE FUNCTION public.settle_outbound(p_tenant text, p_outbound text, p_fence bigint) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_state text;
begin
    if not outbound_let_go(p_tenant, p_outbound, p_fence) then
        perform hold_outbound(p_tenant, p_outbound, p_fence);
        update outbound o
        set state = outbound_state(p_tenant, p_outbound), owner = null, lease_until = null,
            sent_at = case when outbound_state(p_tenant, p_outbound) = 'sent' then clock_timestamp() end
        where o.tenant_id = p_tenant and o.id = p_outbound and outbound_state(p_tenant, p_outbound) <> 'sending';
    end if;
    select o.state into v_state from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    return v_state;
end $$;

CREATE FUNCTION public.show_elsewhere(p_tenant text, p_approval text, p_outbound text) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_other text;
    v_card outbound%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    v_other := other_conversation(p_tenant, 'sms');
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = v_other for update;
    select o.* into v_card from approval_cards k
    join outbound o on o.tenant_id = k.tenant_id and o.id = k.outbound_id
    join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id and c.channel = 'sms'
    join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id and a.state = 'pending' and a.risk = 'high'
    where k.tenant_id = p_tenant and k.approval_id = p_approval and k.role = 'card'
      and (select count(*) from approval_cards n
           where n.tenant_id = p_tenant and n.approval_id = p_approval and n.role = 'card') = 1;
    if v_card.id is null or v_other is null then
        return null;
    end if;
    perform owe(p_tenant, v_other, v_card.turn_id, jsonb_build_array(jsonb_build_object(
        'id', p_outbound, 'kind', 'card', 'text', v_card.text, 'actions', v_card.actions, 'shows', p_approval)));
    return v_other;
end $$;

CREATE FUNCTION public.snooze_approval(p_tenant text, p_approval text, p_snooze interval, p_identity text, p_channel text, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
begin
    perform start_approval(p_tenant, p_approval, p_now);
    update approvals a set remind_at = least(p_now + p_snooze, a.expires_at - interval '1 minute')
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending'
      and a.expires_at > p_now + interval '2 minutes';
    if not found then
        return 'too_late';
    end if;
    perform audit_approval(p_tenant, p_approval, p_now, 'snoozed', p_identity, p_channel, '', '{}');
    return 'snooze';
end $$;

CREATE FUNCTION public.start_approval(p_tenant text, p_approval text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    update approvals a
    set expires_at = date_trunc('second', p_now + a.timeout),
        hash = approval_hash(a.sealed_head, date_trunc('second', p_now + a.timeout), a.sealed_tail),
        remind_at = case when a.timeout >= interval '10 minutes' then p_now + a.timeout * 0.8 end
    where a.tenant_id = p_tenant and a.id = p_approval and a.state = 'pending' and a.expires_at is null;
    if found then
        perform audit_approval(p_tenant, p_approval, p_now, 'sent', '', '', '', '{}');
    end if;
end $$;

CREATE FUNCTION public.start_run(p_tenant text, p_task text, p_run jsonb) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_run text := p_run ->> 'run_id';
    v_queued boolean := p_run ->> 'state' = 'QUEUED';
begin
    insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, reason, cause, turn_id, finished_at)
    values (p_tenant, v_run, p_task, p_run ->> 'occurrence', (p_run ->> 'due_at')::timestamptz, p_run ->> 'state',
            p_run ->> 'reason', p_run -> 'cause', case when v_queued then p_run ->> 'turn_id' end,
            case when not v_queued then clock_timestamp() end)
    on conflict (tenant_id, task_id, occurrence) do nothing;
    if not found then
        return null;
    end if;
    if p_run ->> 'say' <> '' then
        insert into run_notices (tenant_id, run_id, key, text) values (p_tenant, v_run, 'end', p_run ->> 'say');
    end if;
    if not v_queued then
        return null;
    end if;
    insert into lanes (tenant_id, id, pending, pending_since) values (p_tenant, v_run, true, clock_timestamp());
    insert into turns (tenant_id, id, lane_id, state, ready, fence)
    values (p_tenant, p_run ->> 'turn_id', v_run, 'waiting', true, 0);
    return v_run;
end $$;

CREATE FUNCTION public.start_runs(p_tenant text, p_runs jsonb) RETURNS SETOF text
    LANGUAGE plpgsql
    AS $$
declare
    v_run jsonb;
    v_lane text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    for v_run in select * from jsonb_array_elements(p_runs) loop
        v_lane := start_run(p_tenant, v_run ->> 'task_id', v_run);
        if v_lane is not null then
            update tasks t set fired = t.fired + 1,
                state = case when t.kind = 'event' and jsonb_typeof(t.trigger -> 'count') = 'number'
                             and (t.trigger ->> 'count')::numeric <= t.fired + 1 then 'COMPLETED' else t.state end
            where t.tenant_id = p_tenant and t.id = v_run ->> 'task_id' and not coalesce((v_run ->> 'by_hand')::boolean, false);
            return next v_lane;
        end if;
    end loop;
end $$;

CREATE FUNCTION public.steps_done(p_tenant text, p_turn text) RETURNS integer
    LANGUAGE sql STABLE
    AS $$
    select count(*)::int from steps s where s.tenant_id = p_tenant and s.turn_id = p_turn and s.kind <> 'steer'
$$;

CREATE FUNCTION public.stream_leads(p_tenant text, p_outbound text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return exists (select 1 from outbound o where o.tenant_id = p_tenant and o.id = p_outbound and o.state = 'held')
        and not stream_overtaken(p_tenant, p_outbound);
end $$;

CREATE FUNCTION public.stream_overtaken(p_tenant text, p_outbound text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    select exists (
        select 1 from outbound o
        where o.tenant_id = p_tenant and o.id = p_outbound and (
            exists (select 1 from outbound e
                    where e.tenant_id = o.tenant_id and e.conversation_id = o.conversation_id and e.id <> o.id
                      and (e.sent_at > o.stream_at or o.seq is null and e.state in ('ready', 'sending', 'checking')))
            or exists (select 1 from inbound i
                       where i.tenant_id = o.tenant_id and i.turn_id = o.turn_id and i.received_at > o.stream_at)))
$$;

CREATE FUNCTION public.suspect_alone(p_deaths integer) RETURNS interval
    LANGUAGE sql IMMUTABLE
    AS $$ select interval '2 seconds' * power(2, greatest(least(p_deaths - 3, 2), 0)) $$;

CREATE FUNCTION public.suspect_begun(p_process text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select exists (
        select 1 from turns t join lanes l on l.tenant_id = t.tenant_id and l.id = t.lane_id
        where t.state = 'running' and t.suspect and l.owner is not null and process_of(l.owner) = p_process
          and (t.owner <> l.owner or t.tried_at + suspect_alone(t.deaths) > clock_timestamp()))
$$;

CREATE FUNCTION public.suspect_quiet() RETURNS interval
    LANGUAGE sql IMMUTABLE
    AS $$ select interval '500 milliseconds' $$;

CREATE FUNCTION public.suspect_waits(p_most integer, p_from interval, p_to interval) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select exists (
        select 1 from turns t join lanes l on l.tenant_id = t.tenant_id and l.id = t.lane_id
        where t.state = 'running' and t.suspect and l.owner is null and l.pending
          and l.not_before between clock_timestamp() - p_to and clock_timestamp() - p_from
          and (select count(*) from lanes o
               where o.tenant_id = l.tenant_id and o.lease_until > clock_timestamp()) < p_most)
$$;

CREATE FUNCTION public.sweep_cards(p_now timestamp with time zone, p_most integer) RETURNS TABLE(tenant_id text, lane_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_row record;
begin
    for v_row in
        select a.tenant_id, a.id, a.turn_id, t.lane_id,
               bool_or(o.state in ('sent', 'ambiguous')) as sent, bool_and(o.state = 'failed') as failed
        from approvals a join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
        join approval_cards c on c.tenant_id = a.tenant_id and c.approval_id = a.id and c.role = 'card'
        join outbound o on o.tenant_id = c.tenant_id and o.id = c.outbound_id
        where a.state = 'pending' and a.expires_at is null
        group by a.tenant_id, a.id, a.turn_id, t.lane_id
        having bool_or(o.state in ('sent', 'ambiguous')) or bool_and(o.state = 'failed') limit p_most
    loop
        -- A lane that somebody holds at this moment is looked at the next time.
        perform 1 from lanes l where l.tenant_id = v_row.tenant_id and l.id = v_row.lane_id for update skip locked;
        continue when not found;
        if v_row.sent then
            perform start_approval(v_row.tenant_id, v_row.id, p_now);
            continue;
        end if;
        update approvals a set state = 'expired', reason = 'not shown', decided_at = p_now, decided_how = 'not shown'
        where a.tenant_id = v_row.tenant_id and a.id = v_row.id and a.state = 'pending';
        if found then
            perform audit_approval(v_row.tenant_id, v_row.id, p_now, 'expired', '', '', 'not shown', '{}');
            return query select v_row.tenant_id, wake_turn(v_row.tenant_id, v_row.turn_id);
        end if;
    end loop;
end $$;

CREATE FUNCTION public.take_exact(p_tenant text, p_approval text, p_verb text, p_identity text, p_channel text, p_given text, p_fresh text, p_snooze interval, p_now timestamp with time zone, p_draw jsonb, OUT outcome text, OUT lane_id text) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
    v_risk text;
    v_decided boolean;
    v_how text := 'code';
    v_sent text;
begin
    perform hold_turn(p_tenant, (select a.turn_id from approvals a where a.tenant_id = p_tenant and a.id = p_approval));
    outcome := why_decided(p_tenant, p_approval, p_now);
    if outcome <> 'pending' and (outcome, p_verb) <> ('altered', 'cancel') then
        return;
    end if;
    v_sent := cards_sent(p_tenant, p_approval, false);
    if v_sent = 'not_sent' or (v_sent = 'not_whole' and p_verb = 'approve') then
        outcome := v_sent;
        return;
    end if;
    if p_verb = 'snooze' then
        outcome := snooze_approval(p_tenant, p_approval, p_snooze, p_identity, p_channel, p_now);
        return;
    end if;
    select a.risk into v_risk from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    if p_verb = 'approve' and v_risk = 'high' and p_channel = 'sms' then
        outcome := check_confirm(p_tenant, p_approval, p_given, p_fresh, p_now);
        if outcome <> 'go' then
            perform audit_approval(p_tenant, p_approval, p_now, 'confirm', p_identity, p_channel, outcome, '{}');
            return;
        end if;
        v_how := 'code and number';
    end if;
    select d.decided, d.lane_id into v_decided, lane_id from decide_approval(
        p_tenant, p_approval, case p_verb when 'approve' then 'approved' else 'cancelled' end, p_identity, p_channel,
        v_how, p_now, null, p_draw ->> p_verb, '') d;
    outcome := case when v_decided then p_verb else why_decided(p_tenant, p_approval, p_now) end;
end $$;

CREATE FUNCTION public.take_press(p_tenant text, p_approval text, p_identity text, p_channel text, p_verb text, p_entered jsonb, p_now timestamp with time zone, p_draw jsonb, p_has_forms boolean, OUT outcome text, OUT lane_id text) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
    v_decided boolean;
    v_editable boolean;
begin
    perform hold_turn(p_tenant, (select a.turn_id from approvals a where a.tenant_id = p_tenant and a.id = p_approval));
    outcome := why_decided(p_tenant, p_approval, p_now);
    if p_verb = 'details' and outcome in ('pending', 'altered') then
        outcome := 'details';
        return;
    end if;
    if outcome <> 'pending' and (outcome, p_verb) <> ('altered', 'cancel') then
        return;
    end if;
    select a.editable into v_editable from approvals a where a.tenant_id = p_tenant and a.id = p_approval;
    if p_verb = 'approve' and cards_sent(p_tenant, p_approval, true) <> 'whole' then
        outcome := 'not_whole';
    elsif p_verb = 'edit' and not v_editable then
        outcome := 'not_editable';
    elsif p_verb in ('approve', 'cancel') or (p_verb = 'edit' and p_entered is not null) then
        select d.decided, d.lane_id into v_decided, lane_id from decide_approval(
            p_tenant, p_approval,
            case p_verb when 'approve' then 'approved' when 'cancel' then 'cancelled' else 'replaced' end,
            p_identity, p_channel, case when p_entered is null then 'button' else 'form' end, p_now,
            case when p_entered is not null then jsonb_build_object('changes', p_entered) end, p_draw ->> p_verb, '') d;
        outcome := case when v_decided then p_verb else why_decided(p_tenant, p_approval, p_now) end;
    elsif p_verb = 'edit' then
        -- What comes of it is a change of this one; its time runs from here at the latest.
        perform start_approval(p_tenant, p_approval, p_now);
        outcome := case when p_has_forms then 'edit' else 'ask_change' end;
    end if;
end $$;

CREATE FUNCTION public.take_segments_of_all(p_day date, p_segments integer, p_most integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    insert into segments_of_all as s (day) values (p_day) on conflict (day) do nothing;
    update segments_of_all s set segments = s.segments + p_segments
    where s.day = p_day and s.segments + p_segments <= p_most;
    if found then
        return true;
    end if;
    update segments_of_all s set refused = s.refused + 1 where s.day = p_day;
    return false;
end $$;

CREATE FUNCTION public.tell_elsewhere() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if not exists (select 1 from identities i where i.tenant_id = new.tenant_id and i.id <> new.id
                   and i.state = 'active' and i.admitted <> '' and i.channel <> 'terminal') then
        return null;
    end if;
    insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, not_before)
    values (new.tenant_id, 'ntf_' || replace(gen_random_uuid()::text, '-', ''), 'reach', 'normal',
            case when new.state = 'stopped' then 'You stopped my messages by ' else 'I can''t reach you any more by ' end
            || case new.channel when 'sms' then 'SMS' else initcap(new.channel) end
            || ', so I write to you here instead.',
            'reach:' || new.id || ':' || new.state, 'held', clock_timestamp(), '-infinity');
    return null;
end $$;

CREATE FUNCTION public.tell_of_card() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if new.state <> 'pending' then
        update notifications n set state = 'muted', reason = new.state
        where n.tenant_id = new.tenant_id and n.dedupe_key = 'card:' || new.id and n.state = 'held';
        return null;
    end if;
    insert into notifications (tenant_id, id, category, urgency, title, text, dedupe_key, state, at, not_before, aside)
    select new.tenant_id, 'ntf_' || replace(gen_random_uuid()::text, '-', ''), 'approval', 'normal',
           'Your approval is needed',
           'This waits for your approval in ' || case c.channel when 'sms' then 'a text message' when 'terminal'
               then 'the terminal' else initcap(c.channel) end || ': ' || new.summary,
           'card:' || new.id, 'held', clock_timestamp(), '-infinity', true
    from conversations c
    where c.tenant_id = new.tenant_id and c.id = new.conversation_id
      and exists (select 1 from identities i where i.tenant_id = new.tenant_id and i.channel in ('push', 'email')
                  and i.state = 'active');
    return null;
end $$;

CREATE FUNCTION public.tell_outcome(p_tenant text, p_approval text, p_text text, p_confirm text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    select replace(replace(replace(replace(replace(replace(p_text,
        '{code}', a.code), '{confirm}', p_confirm), '{summary}', a.summary),
        '{who}', case a.decided_channel when 'sms' then 'you by SMS' when '' then 'you' when 'operator' then 'the operator'
                                    else 'you on ' || initcap(a.decided_channel) end),
        '{decided}', coalesce(told_time(p_tenant, a.decided_at), '')),
        '{expires}', coalesce(told_time(p_tenant, a.expires_at), ''))
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

CREATE FUNCTION public.tell_places(p_tenant text, p_identities text[], p_text text, p_outbound text) RETURNS TABLE(conversation_id text)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.tell_stranger(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_name text, p_timezone text, p_outbound text, p_text text, p_new_tenant text, p_new_identity text, p_new_conversation text) RETURNS TABLE(conversation_id text)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.tidy_memory(p_now timestamp with time zone) RETURNS TABLE(tenant_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    delete from memory_sessions s where s.expires_at <= p_now;
    delete from memory_forgettings f where not f.confirmed and f.expires_at <= p_now;
    return query select owed.tenant_id
    from (select distinct f.tenant_id from memory_forgettings f where f.confirmed) owed
    order by random() limit 100;
end $$;

CREATE FUNCTION public.told_time(p_tenant text, p_moment timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
declare
    v_zone text;
    v_there timestamp;
    v_now timestamp;
begin
    select coalesce(nullif(t.timezone, ''), 'UTC') into v_zone from tenants t where t.tenant_id = p_tenant;
    begin
        v_there := p_moment at time zone coalesce(v_zone, 'UTC');
        v_now := clock_timestamp() at time zone coalesce(v_zone, 'UTC');
    exception when invalid_parameter_value then
        v_there := p_moment at time zone 'UTC';
        v_now := clock_timestamp() at time zone 'UTC';
    end;
    return to_char(v_there, case when v_there::date = v_now::date then 'HH24:MI' else 'HH24:MI "on" FMDD FMMonth' end);
end $$;

CREATE FUNCTION public.try_link_code(p_code_hash bytea, p_scope text, p_channel text, p_account text, p_user_key text, p_by text, p_now timestamp with time zone, p_most_of_sender integer, p_window interval) RETURNS TABLE(outcome text, tenant_id text, identity_id text, used_by text, asked boolean)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.turn_took_effect(p_tenant text, p_turn text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    select exists (select 1 from steps s where s.tenant_id = p_tenant and s.turn_id = p_turn
                   and s.kind in ('tool', 'agent') and s.effect in ('once', 'idempotent')
                   and (s.state = 'started' or s.outcome in ('ok', 'unknown')))
$$;

CREATE FUNCTION public.undo_fact(p_tenant text, p_number bigint, p_now timestamp with time zone) RETURNS TABLE(key text, value text, before text)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.unknown_blocks() RETURNS interval
    LANGUAGE sql IMMUTABLE
    AS $$
    select interval '2 minutes'
$$;

CREATE FUNCTION public.unlink_identity(p_tenant text, p_turn text, p_new_tenant text, p_new_identity text, p_new_conversation text, p_outbound text, p_text text) RETURNS TABLE(outcome text, conversation_id text)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.wake_turn(p_tenant text, p_turn text) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    v_lane text;
begin
    select t.lane_id into v_lane from turns t where t.tenant_id = p_tenant and t.id = p_turn;
    -- The lane before the turn, as finish_turn locks them.
    perform 1 from lanes l where l.tenant_id = p_tenant and l.id = v_lane for update;
    update turns t set ready = true
    where t.tenant_id = p_tenant and t.id = p_turn and t.state in ('waiting', 'running');
    if not found then
        return null;
    end if;
    update lanes l set pending = true, pending_since = coalesce(l.pending_since, clock_timestamp())
    where l.tenant_id = p_tenant and l.id = v_lane;
    return v_lane;
end $$;

CREATE FUNCTION public.wants_channel_event(p_tenant text, p_channel text, p_type text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    select exists (select 1 from tasks t where t.tenant_id = p_tenant and t.kind = 'event' and t.state = 'ACTIVE'
                   and may_match(p_channel, t.trigger ->> 'source') and may_match(p_type, t.trigger ->> 'type'))
        or exists (select 1 from tenants t where t.tenant_id = p_tenant and t.channel_events)
$$;

CREATE FUNCTION public.wants_channel_events(p_tenant text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    select exists (select 1 from tasks t where t.tenant_id = p_tenant and t.kind = 'event' and t.state = 'ACTIVE')
        or exists (select 1 from tenants t where t.tenant_id = p_tenant and t.channel_events)
$$;

CREATE FUNCTION public.was_received(p_channel text, p_account text, p_keys text[], p_id text) RETURNS boolean
    LANGUAGE sql
    AS $$
    select exists (select 1 from find_received(p_channel, p_account, p_keys) f where f.inbound_id = p_id)
$$;

CREATE FUNCTION public.why_decided(p_tenant text, p_approval text, p_now timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    select case
        when a.state = 'pending' and a.expires_at <= p_now then 'expired'
        when a.state = 'pending' and not exists (
            select 1 from turns t where t.tenant_id = p_tenant and t.id = a.turn_id and t.state in ('waiting', 'running'))
            then 'over'
        when a.state = 'pending' and a.hash <> '' and a.hash <> approval_hash(a.sealed_head, a.expires_at, a.sealed_tail)
            then 'altered'
        when a.state = 'pending' then 'pending'
        when a.state = 'replaced' then 'replaced'
        else 'already_' || a.state end
    from approvals a where a.tenant_id = p_tenant and a.id = p_approval
$$;

CREATE FUNCTION public.withdraw_notification(p_tenant text, p_id text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update outbound o set state = 'failed', reason = 'it went elsewhere'
    from notifications n
    where n.tenant_id = p_tenant and n.id = p_id and n.state = 'owed'
      and o.tenant_id = n.tenant_id and o.id = n.outbound_id and o.state = 'ready' and o.owner is null
      and not exists (select 1 from outbound_parts e where e.tenant_id = o.tenant_id and e.outbound_id = o.id
                      and e.state in ('sent', 'ambiguous', 'checking', 'sending'));
    return found;
end $$;

CREATE FUNCTION public.write_approval(p_tenant text, p_conversation text, p_turn text, p_approval jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments, shown,
                           form, risk, source, code, token, timeout, sealed_head, sealed_tail, created_at,
                           editable)
    values (p_tenant, p_approval ->> 'id', p_turn, p_approval ->> 'place', (p_approval ->> 'generation')::int,
            p_conversation, p_approval ->> 'name', p_approval ->> 'summary', p_approval -> 'arguments',
            p_approval -> 'shown', p_approval -> 'form', p_approval ->> 'risk', p_approval ->> 'source',
            p_approval ->> 'code', p_approval ->> 'token', make_interval(secs => (p_approval ->> 'seconds')::float),
            p_approval ->> 'sealed_head', p_approval ->> 'sealed_tail', (p_approval ->> 'created_at')::timestamptz,
            coalesce((p_approval ->> 'editable')::boolean, true))
    on conflict on constraint approvals_pkey do nothing;
    if found then
        perform audit_approval(p_tenant, p_approval ->> 'id', (p_approval ->> 'created_at')::timestamptz, 'requested',
                               '', '', '', p_approval -> 'arguments');
    end if;
end $$;

CREATE FUNCTION public.write_pool(p_tenant text, p_turn text, p_conversation text, p_pool jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_entry jsonb;
    v_changed text;
begin
    for v_entry in select * from jsonb_array_elements(p_pool) loop
        if v_entry ->> 'turn_id' = p_turn then
            insert into pool_entries (tenant_id, agent_id, agent_type, conversation_id, turn_id, agent_path,
                                      tool_call_id, status, schema_version, expires_at)
            values (p_tenant, v_entry ->> 'agent_id', v_entry ->> 'agent_type', p_conversation, p_turn,
                    v_entry ->> 'agent_path', v_entry ->> 'tool_call_id', v_entry ->> 'status',
                    v_entry ->> 'schema_version', (v_entry ->> 'expires_at')::timestamptz)
            on conflict (tenant_id, agent_id) do nothing;
        end if;
        update pool_entries e
        set status = v_entry ->> 'status', collected_fields = v_entry -> 'collected_fields',
            context = v_entry -> 'context', reason = v_entry ->> 'reason', revision = e.revision + 1,
            expires_at = (v_entry ->> 'expires_at')::timestamptz, updated_at = clock_timestamp()
        where e.tenant_id = p_tenant and e.agent_id = v_entry ->> 'agent_id'
          and e.revision = (v_entry ->> 'revision')::int and e.status not in ('CANCELLED', 'COMPLETED')
        returning e.turn_id into v_changed;
        if not found or v_changed = p_turn then
            continue;
        end if;
        if v_entry ->> 'reason' in ('dropped', 'stale') then
            perform close_waiting_turn(p_tenant, v_changed, v_entry ->> 'reason');
        elsif (v_entry ->> 'wakes')::boolean then
            perform wake_turn(p_tenant, v_changed);
        end if;
    end loop;
end $$;

CREATE FUNCTION public.wrong_codes(p_tenant text, p_conversation text, p_inbound text) RETURNS bigint
    LANGUAGE sql STABLE
    AS $_$
    select count(*) from inbound i
    where i.tenant_id = p_tenant and i.conversation_id = p_conversation and i.id <> p_inbound
      and i.received_at > clock_timestamp() - interval '1 hour'
      and i.text ~* '^\s*(ok|okay|no|snooze)\s+[2-9][a-z][2-9a-z]?([\s.!]|$)'
      and not starts_with(i.reason, 'decision: ')
$_$;

CREATE TABLE public.approval_audit (
    tenant_id text NOT NULL,
    id bigint NOT NULL,
    approval_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    what text NOT NULL,
    hash text DEFAULT ''::text NOT NULL,
    identity_id text DEFAULT ''::text NOT NULL,
    channel text DEFAULT ''::text NOT NULL,
    how text DEFAULT ''::text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT approval_audit_what_check CHECK ((what = ANY (ARRAY['requested'::text, 'sent'::text, 'approved'::text, 'cancelled'::text, 'replaced'::text, 'expired'::text, 'ran'::text, 'refused'::text, 'confirm'::text, 'reminded'::text, 'snoozed'::text, 'reissued'::text])))
);

ALTER TABLE ONLY public.approval_audit FORCE ROW LEVEL SECURITY;

ALTER TABLE public.approval_audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.approval_audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.approval_cards (
    tenant_id text NOT NULL,
    outbound_id text NOT NULL,
    approval_id text NOT NULL,
    role text DEFAULT 'card'::text NOT NULL,
    CONSTRAINT approval_cards_role_check CHECK ((role = ANY (ARRAY['card'::text, 'prompt'::text, 'number'::text])))
);

ALTER TABLE ONLY public.approval_cards FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approval_codes (
    tenant_id text NOT NULL,
    code text NOT NULL,
    holder text NOT NULL,
    issued_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.approval_codes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals (
    tenant_id text NOT NULL,
    id text NOT NULL,
    turn_id text NOT NULL,
    place text NOT NULL,
    generation integer NOT NULL,
    conversation_id text NOT NULL,
    name text NOT NULL,
    summary text NOT NULL,
    arguments jsonb NOT NULL,
    shown jsonb NOT NULL,
    form jsonb DEFAULT '[]'::jsonb NOT NULL,
    editable boolean DEFAULT true NOT NULL,
    risk text DEFAULT ''::text NOT NULL,
    source text DEFAULT 'message'::text NOT NULL,
    code text NOT NULL,
    token text NOT NULL,
    timeout interval NOT NULL,
    sealed_head text NOT NULL,
    sealed_tail text NOT NULL,
    hash text DEFAULT ''::text NOT NULL,
    expires_at timestamp with time zone,
    state text DEFAULT 'pending'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    proposed jsonb,
    decided_at timestamp with time zone,
    decided_by text DEFAULT ''::text NOT NULL,
    decided_channel text DEFAULT ''::text NOT NULL,
    decided_how text DEFAULT ''::text NOT NULL,
    confirm_hash bytea,
    confirm_until timestamp with time zone,
    confirm_tries integer DEFAULT 0 NOT NULL,
    confirm_sent integer DEFAULT 0 NOT NULL,
    remind_at timestamp with time zone,
    ran_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT approvals_check CHECK (((expires_at IS NULL) = (hash = ''::text))),
    CONSTRAINT approvals_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'cancelled'::text, 'expired'::text, 'replaced'::text])))
);

ALTER TABLE ONLY public.approvals FORCE ROW LEVEL SECURITY;

CREATE TABLE public.channel_state (
    channel text NOT NULL,
    account text NOT NULL,
    last_in_at timestamp with time zone,
    last_out_at timestamp with time zone,
    watermark timestamp with time zone,
    poll_offset bigint,
    owner text,
    lease_until timestamp with time zone,
    poll_problem text DEFAULT ''::text NOT NULL,
    sweep_owner text,
    sweep_until timestamp with time zone,
    sweep_began timestamp with time zone,
    sweep_place text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.channel_state FORCE ROW LEVEL SECURITY;

CREATE TABLE public.consents (
    id bigint NOT NULL,
    channel text NOT NULL,
    account text NOT NULL,
    user_key text NOT NULL,
    state text NOT NULL,
    how text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT consents_state_check CHECK ((state = ANY (ARRAY['active'::text, 'stopped'::text, 'blocked'::text])))
);

ALTER TABLE ONLY public.consents FORCE ROW LEVEL SECURITY;

ALTER TABLE public.consents ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.consents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.conversations (
    tenant_id text NOT NULL,
    id text NOT NULL,
    identity_id text NOT NULL,
    channel text NOT NULL,
    account text NOT NULL,
    peer text NOT NULL,
    thread text DEFAULT ''::text NOT NULL,
    session integer DEFAULT 1 NOT NULL,
    in_seq bigint DEFAULT 0 NOT NULL,
    out_seq bigint DEFAULT 0 NOT NULL,
    history_seq bigint DEFAULT 0 NOT NULL,
    last_inbound_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.conversations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.credentials (
    tenant_id text NOT NULL,
    service text NOT NULL,
    account_name text NOT NULL,
    key_version integer NOT NULL,
    credentials_json bytea NOT NULL,
    preferred boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT credentials_account_name_check CHECK (((length(account_name) >= 1) AND (length(account_name) <= 200))),
    CONSTRAINT credentials_service_check CHECK (((length(service) >= 1) AND (length(service) <= 200)))
);

ALTER TABLE ONLY public.credentials FORCE ROW LEVEL SECURITY;

CREATE TABLE public.data_keys (
    tenant_id text NOT NULL,
    version integer NOT NULL,
    secret_key_id text NOT NULL,
    wrapped bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT data_keys_version_check CHECK ((version > 0))
);

ALTER TABLE ONLY public.data_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.deliveries (
    tenant_id text NOT NULL,
    outbound_id text NOT NULL,
    part integer NOT NULL,
    attempt integer NOT NULL,
    owner text NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    outcome text DEFAULT 'started'::text NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    provider_id text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.deliveries FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_groups (
    name text NOT NULL,
    pattern text NOT NULL
);

ALTER TABLE ONLY public.event_groups FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_sources (
    tenant_id text NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    style text NOT NULL,
    secret_hash bytea,
    key_version integer,
    sealed bytea,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT event_sources_check CHECK ((((style = 'bearer'::text) = (secret_hash IS NOT NULL)) AND ((style = 'bearer'::text) = (sealed IS NULL)))),
    CONSTRAINT event_sources_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'::text)),
    CONSTRAINT event_sources_style_check CHECK ((style = ANY (ARRAY['bearer'::text, 'hmac'::text, 'github'::text, 'stripe'::text])))
);

ALTER TABLE ONLY public.event_sources FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_work (
    tenant_id text NOT NULL,
    source text NOT NULL,
    event_id text NOT NULL,
    group_name text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    streamed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    owner text,
    lease_until timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT event_work_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'done'::text, 'poison'::text])))
);

ALTER TABLE ONLY public.event_work FORCE ROW LEVEL SECURITY;

CREATE TABLE public.events (
    tenant_id text NOT NULL,
    source text NOT NULL,
    id text NOT NULL,
    type text NOT NULL,
    data jsonb NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;

CREATE TABLE public.guesses (
    scope text NOT NULL,
    at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.guesses FORCE ROW LEVEL SECURITY;

CREATE TABLE public.history (
    tenant_id text NOT NULL,
    conversation_id text NOT NULL,
    "position" bigint NOT NULL,
    session integer NOT NULL,
    turn_id text,
    message jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.history FORCE ROW LEVEL SECURITY;

CREATE TABLE public.identities (
    tenant_id text NOT NULL,
    id text NOT NULL,
    channel text NOT NULL,
    account text NOT NULL,
    user_key text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    timezone text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'active'::text NOT NULL,
    state_reason text DEFAULT ''::text NOT NULL,
    state_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    admitted text NOT NULL,
    CONSTRAINT identities_admitted_check CHECK ((admitted = ANY (ARRAY[''::text, 'open'::text, 'allowlist'::text, 'pairing'::text, 'link'::text, 'operator'::text]))),
    CONSTRAINT identities_state_check CHECK ((state = ANY (ARRAY['active'::text, 'stopped'::text, 'blocked'::text]))),
    CONSTRAINT identities_user_key_check CHECK ((user_key <> ''::text))
);

ALTER TABLE ONLY public.identities FORCE ROW LEVEL SECURITY;

CREATE TABLE public.ignored_messages (
    channel text NOT NULL,
    account text NOT NULL,
    key text NOT NULL,
    reason text NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.ignored_messages FORCE ROW LEVEL SECURITY;

CREATE TABLE public.inbound (
    tenant_id text NOT NULL,
    id text NOT NULL,
    conversation_id text NOT NULL,
    seq bigint NOT NULL,
    text text NOT NULL,
    media jsonb DEFAULT '[]'::jsonb NOT NULL,
    command jsonb,
    provider_id text DEFAULT ''::text NOT NULL,
    sent_at timestamp with time zone,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    turn_id text,
    reply_to text DEFAULT ''::text NOT NULL,
    origin text DEFAULT 'own'::text NOT NULL,
    CONSTRAINT inbound_origin_check CHECK ((origin = ANY (ARRAY['own'::text, 'forwarded'::text, 'via_bot'::text]))),
    CONSTRAINT inbound_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'taken'::text, 'done'::text, 'ignored'::text])))
);

ALTER TABLE ONLY public.inbound FORCE ROW LEVEL SECURITY;

CREATE TABLE public.inbox_keys (
    channel text NOT NULL,
    account text NOT NULL,
    key text NOT NULL,
    tenant_id text NOT NULL,
    inbound_id text NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.inbox_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.lanes (
    tenant_id text NOT NULL,
    id text NOT NULL,
    conversation_id text,
    pending boolean DEFAULT false NOT NULL,
    pending_since timestamp with time zone,
    not_before timestamp with time zone,
    owner text,
    lease_until timestamp with time zone,
    fence bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.lanes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.link_codes (
    tenant_id text NOT NULL,
    code_hash bytea NOT NULL,
    identity_id text NOT NULL,
    turn_id text NOT NULL,
    made_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    used_by text DEFAULT ''::text NOT NULL,
    scrubbed boolean DEFAULT false NOT NULL,
    asked_channel text DEFAULT ''::text NOT NULL,
    asked_account text DEFAULT ''::text NOT NULL,
    asked_user_key text DEFAULT ''::text NOT NULL,
    asked_by text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.link_codes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.linked_rows (
    tenant_id text NOT NULL,
    link_id text NOT NULL,
    of text NOT NULL,
    key text[] NOT NULL,
    number bigint,
    name text DEFAULT ''::text NOT NULL,
    copied boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY public.linked_rows FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memories (
    tenant_id text NOT NULL,
    id text NOT NULL,
    number bigint NOT NULL,
    collection text DEFAULT ''::text NOT NULL,
    text text NOT NULL,
    speaker text NOT NULL,
    kind text NOT NULL,
    source_key text NOT NULL,
    turn_id text,
    said_at timestamp with time zone NOT NULL,
    slot text DEFAULT ''::text NOT NULL,
    knowledge jsonb DEFAULT '{}'::jsonb NOT NULL,
    extractor text DEFAULT ''::text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    superseded_by text,
    repeated integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    words tsvector GENERATED ALWAYS AS ((to_tsvector('english'::regconfig, text) || to_tsvector('simple'::regconfig, text))) STORED,
    CONSTRAINT memories_kind_check CHECK ((kind = ANY (ARRAY['told'::text, 'inferred'::text, 'outside'::text]))),
    CONSTRAINT memories_text_check CHECK (((length(text) >= 1) AND (length(text) <= 4000)))
);

ALTER TABLE ONLY public.memories FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_forgettings (
    tenant_id text NOT NULL,
    id text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    memory_ids text[] NOT NULL,
    phrases text[] DEFAULT '{}'::text[] NOT NULL,
    confirmed boolean DEFAULT false NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.memory_forgettings FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_jobs (
    tenant_id text NOT NULL,
    id text NOT NULL,
    turn_id text,
    collection text DEFAULT ''::text NOT NULL,
    messages jsonb DEFAULT '[]'::jsonb NOT NULL,
    infer boolean DEFAULT true NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    owner text,
    lease_until timestamp with time zone,
    not_before timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.memory_jobs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_members (
    tenant_id text NOT NULL,
    name text NOT NULL,
    shared_id text NOT NULL,
    role text NOT NULL,
    CONSTRAINT memory_members_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT memory_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text])))
);

ALTER TABLE ONLY public.memory_members FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_messages (
    tenant_id text NOT NULL,
    session text NOT NULL,
    "position" bigint NOT NULL,
    message jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.memory_messages FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_recalls (
    tenant_id text NOT NULL,
    turn_id text NOT NULL,
    report jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.memory_recalls FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_sessions (
    tenant_id text NOT NULL,
    id text NOT NULL,
    last_position bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT memory_sessions_id_check CHECK (((length(id) >= 1) AND (length(id) <= 200)))
);

ALTER TABLE ONLY public.memory_sessions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_terms (
    tenant_id text NOT NULL,
    embedder text NOT NULL,
    term text NOT NULL,
    embedding public.vector NOT NULL
);
ALTER TABLE ONLY public.memory_terms ALTER COLUMN embedding SET STORAGE MAIN;

ALTER TABLE ONLY public.memory_terms FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_vectors (
    tenant_id text NOT NULL,
    memory_id text NOT NULL,
    embedder text NOT NULL,
    embedding public.vector NOT NULL
);
ALTER TABLE ONLY public.memory_vectors ALTER COLUMN embedding SET STORAGE MAIN;

ALTER TABLE ONLY public.memory_vectors FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_versions (
    tenant_id text NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.memory_versions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.notifications (
    tenant_id text NOT NULL,
    id text NOT NULL,
    category text NOT NULL,
    urgency text NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    text text NOT NULL,
    actions jsonb DEFAULT '[]'::jsonb NOT NULL,
    media jsonb DEFAULT '[]'::jsonb NOT NULL,
    dedupe_key text NOT NULL,
    task_id text DEFAULT ''::text NOT NULL,
    run_id text DEFAULT ''::text NOT NULL,
    wanted text DEFAULT ''::text NOT NULL,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    at timestamp with time zone NOT NULL,
    not_before timestamp with time zone,
    digest_id text,
    repeats integer DEFAULT 0 NOT NULL,
    conversation_id text,
    outbound_id text,
    tried text[] DEFAULT '{}'::text[] NOT NULL,
    owed_at timestamp with time zone,
    fall_back_at timestamp with time zone,
    aside boolean DEFAULT false NOT NULL,
    sent_at timestamp with time zone,
    CONSTRAINT notifications_check CHECK (((state = 'held'::text) <= (not_before IS NOT NULL))),
    CONSTRAINT notifications_state_check CHECK ((state = ANY (ARRAY['held'::text, 'owed'::text, 'sent'::text, 'failed'::text, 'nowhere'::text, 'muted'::text, 'digested'::text]))),
    CONSTRAINT notifications_urgency_check CHECK ((urgency = ANY (ARRAY['urgent'::text, 'normal'::text, 'low'::text])))
);

ALTER TABLE ONLY public.notifications FORCE ROW LEVEL SECURITY;

CREATE TABLE public.outbound (
    tenant_id text NOT NULL,
    id text NOT NULL,
    conversation_id text NOT NULL,
    turn_id text,
    kind text NOT NULL,
    text text NOT NULL,
    actions jsonb DEFAULT '[]'::jsonb NOT NULL,
    media jsonb DEFAULT '[]'::jsonb NOT NULL,
    state text NOT NULL,
    seq bigint,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    owner text,
    lease_until timestamp with time zone,
    fence bigint DEFAULT 0 NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    ambiguities integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    sent_at timestamp with time zone,
    regardless boolean DEFAULT false NOT NULL,
    wants_reply boolean DEFAULT false NOT NULL,
    stream text DEFAULT ''::text NOT NULL,
    stream_at timestamp with time zone,
    hangs integer DEFAULT 0 NOT NULL,
    unknown_since timestamp with time zone,
    given_up_at timestamp with time zone,
    told_missing_by text,
    delay_told_at timestamp with time zone,
    rest jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT outbound_check CHECK (((state = 'held'::text) = (seq IS NULL))),
    CONSTRAINT outbound_kind_check CHECK ((kind = ANY (ARRAY['reply'::text, 'card'::text, 'notification'::text, 'receipt'::text]))),
    CONSTRAINT outbound_state_check CHECK ((state = ANY (ARRAY['held'::text, 'ready'::text, 'sending'::text, 'checking'::text, 'sent'::text, 'ambiguous'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.outbound FORCE ROW LEVEL SECURITY;

CREATE TABLE public.pairings (
    code_hash bytea NOT NULL,
    channel text NOT NULL,
    account text NOT NULL,
    user_key text NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    used_by text DEFAULT ''::text NOT NULL,
    CONSTRAINT pairings_user_key_check CHECK ((user_key <> ''::text))
);

ALTER TABLE ONLY public.pairings FORCE ROW LEVEL SECURITY;

CREATE TABLE public.person_audit (
    tenant_id text NOT NULL,
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    what text NOT NULL,
    channel text DEFAULT ''::text NOT NULL,
    account text DEFAULT ''::text NOT NULL,
    identity_id text DEFAULT ''::text NOT NULL,
    other text DEFAULT ''::text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    CONSTRAINT person_audit_what_check CHECK ((what = ANY (ARRAY['code'::text, 'linked'::text, 'merged'::text, 'unlinked'::text, 'preference'::text])))
);

ALTER TABLE ONLY public.person_audit FORCE ROW LEVEL SECURITY;

ALTER TABLE public.person_audit ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.person_audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.pool_entries (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    agent_type text NOT NULL,
    conversation_id text,
    turn_id text NOT NULL,
    agent_path text NOT NULL,
    tool_call_id text NOT NULL,
    status text NOT NULL,
    schema_version text NOT NULL,
    collected_fields jsonb DEFAULT '{}'::jsonb NOT NULL,
    context jsonb DEFAULT '{}'::jsonb NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pool_entries_status_check CHECK ((status = ANY (ARRAY['WAITING_FOR_INPUT'::text, 'WAITING_FOR_APPROVAL'::text, 'PAUSED'::text, 'CANCELLED'::text, 'COMPLETED'::text])))
);

ALTER TABLE ONLY public.pool_entries FORCE ROW LEVEL SECURITY;

CREATE TABLE public.profile_facts (
    tenant_id text NOT NULL,
    id text NOT NULL,
    number bigint NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    source text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    since timestamp with time zone NOT NULL,
    replaced_by text,
    undone_at timestamp with time zone,
    CONSTRAINT profile_facts_key_check CHECK ((key ~ '^[a-z][a-z0-9_]{0,39}$'::text)),
    CONSTRAINT profile_facts_source_check CHECK ((source = ANY (ARRAY['told'::text, 'inferred'::text, 'outside'::text]))),
    CONSTRAINT profile_facts_value_check CHECK (((length(value) >= 1) AND (length(value) <= 300)))
);

ALTER TABLE ONLY public.profile_facts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.profile_jobs (
    tenant_id text NOT NULL,
    turn_id text NOT NULL,
    not_before timestamp with time zone DEFAULT (clock_timestamp() + '00:00:20'::interval) NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    owner text,
    lease_until timestamp with time zone
);

ALTER TABLE ONLY public.profile_jobs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.redraws (
    tenant_id text NOT NULL,
    outbound_id text NOT NULL,
    outcome text NOT NULL,
    state text DEFAULT 'due'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    lease_until timestamp with time zone,
    fence bigint DEFAULT 0 NOT NULL,
    drawn_at timestamp with time zone,
    CONSTRAINT redraws_state_check CHECK ((state = ANY (ARRAY['due'::text, 'drawn'::text, 'given_up'::text])))
);

ALTER TABLE ONLY public.redraws FORCE ROW LEVEL SECURITY;

CREATE TABLE public.reservations (
    tenant_id text NOT NULL,
    turn_id text NOT NULL,
    agent_path text NOT NULL,
    step integer NOT NULL,
    call_index integer NOT NULL,
    day date NOT NULL,
    task_id text DEFAULT ''::text NOT NULL,
    amount numeric(14,8) NOT NULL,
    settled boolean DEFAULT false NOT NULL,
    held_until timestamp with time zone NOT NULL,
    allowed numeric(14,8) DEFAULT 0 NOT NULL,
    CONSTRAINT reservations_allowed_check CHECK ((allowed >= (0)::numeric)),
    CONSTRAINT reservations_amount_check CHECK ((amount >= (0)::numeric))
);

ALTER TABLE ONLY public.reservations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.run_notices (
    tenant_id text NOT NULL,
    run_id text NOT NULL,
    key text NOT NULL,
    text text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    notification_id text DEFAULT ''::text NOT NULL,
    fate text DEFAULT ''::text NOT NULL,
    place text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT run_notices_state_check CHECK ((state = ANY (ARRAY['open'::text, 'handed_over'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.run_notices FORCE ROW LEVEL SECURITY;

CREATE TABLE public.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.schema_migrations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.segment_days (
    tenant_id text NOT NULL,
    day date NOT NULL,
    segments integer DEFAULT 0 NOT NULL,
    told boolean DEFAULT false NOT NULL,
    CONSTRAINT segment_days_segments_check CHECK ((segments >= 0))
);

ALTER TABLE ONLY public.segment_days FORCE ROW LEVEL SECURITY;

CREATE TABLE public.segments_of_all (
    day date NOT NULL,
    segments integer DEFAULT 0 NOT NULL,
    refused integer DEFAULT 0 NOT NULL,
    CONSTRAINT segments_of_all_segments_check CHECK ((segments >= 0))
);

ALTER TABLE ONLY public.segments_of_all FORCE ROW LEVEL SECURITY;

CREATE TABLE public.spending (
    tenant_id text NOT NULL,
    day date NOT NULL,
    task_id text DEFAULT ''::text NOT NULL,
    spent numeric(14,8) DEFAULT 0 NOT NULL,
    CONSTRAINT spending_spent_check CHECK ((spent >= (0)::numeric))
);

ALTER TABLE ONLY public.spending FORCE ROW LEVEL SECURITY;

CREATE TABLE public.steps (
    tenant_id text NOT NULL,
    turn_id text NOT NULL,
    agent_path text DEFAULT ''::text NOT NULL,
    step integer NOT NULL,
    call_index integer NOT NULL,
    kind text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    args_hash text DEFAULT ''::text NOT NULL,
    effect text DEFAULT ''::text NOT NULL,
    state text NOT NULL,
    outcome text DEFAULT 'ok'::text NOT NULL,
    idempotency_key text DEFAULT ''::text NOT NULL,
    result jsonb DEFAULT '{}'::jsonb NOT NULL,
    usage jsonb DEFAULT '{}'::jsonb NOT NULL,
    duration_ms integer DEFAULT 0 NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT steps_state_check CHECK ((state = ANY (ARRAY['started'::text, 'done'::text])))
);

ALTER TABLE ONLY public.steps FORCE ROW LEVEL SECURITY;

CREATE TABLE public.stored_collections (
    tenant_id text NOT NULL,
    name text NOT NULL,
    last_number bigint DEFAULT 0 NOT NULL,
    CONSTRAINT stored_collections_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

ALTER TABLE ONLY public.stored_collections FORCE ROW LEVEL SECURITY;

CREATE TABLE public.stored_values (
    tenant_id text NOT NULL,
    collection text NOT NULL,
    key text NOT NULL,
    number bigint NOT NULL,
    value jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT stored_values_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200)))
);

ALTER TABLE ONLY public.stored_values FORCE ROW LEVEL SECURITY;

CREATE TABLE public.task_runs (
    tenant_id text NOT NULL,
    id text NOT NULL,
    task_id text NOT NULL,
    occurrence text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    cause jsonb DEFAULT '{}'::jsonb NOT NULL,
    conversation_id text,
    turn_id text,
    history jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT task_runs_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'PENDING_APPROVAL'::text, 'COMPLETED'::text, 'FAILED'::text, 'EXPIRED'::text, 'SKIPPED'::text, 'CANCELLED'::text])))
);

ALTER TABLE ONLY public.task_runs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tasks (
    tenant_id text NOT NULL,
    id text NOT NULL,
    number integer NOT NULL,
    title text NOT NULL,
    kind text NOT NULL,
    trigger jsonb NOT NULL,
    executor text DEFAULT 'orchestrator'::text NOT NULL,
    action jsonb DEFAULT '{}'::jsonb NOT NULL,
    output jsonb DEFAULT '{}'::jsonb NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    anchor timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    next_at timestamp with time zone,
    zone text DEFAULT ''::text NOT NULL,
    rezone boolean DEFAULT false NOT NULL,
    fired integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    watch jsonb DEFAULT '{}'::jsonb NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    deleted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    set_aside text DEFAULT ''::text NOT NULL,
    held boolean DEFAULT false NOT NULL,
    looks_begun integer DEFAULT 0 NOT NULL,
    CONSTRAINT tasks_kind_check CHECK ((kind = ANY (ARRAY['schedule'::text, 'event'::text, 'condition'::text]))),
    CONSTRAINT tasks_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text, 'DISABLED'::text, 'COMPLETED'::text])))
);

ALTER TABLE ONLY public.tasks FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants (
    tenant_id text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    timezone text DEFAULT ''::text NOT NULL,
    role text DEFAULT 'member'::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    tier text DEFAULT ''::text NOT NULL,
    preferred_channel text DEFAULT ''::text NOT NULL,
    quiet_from text DEFAULT ''::text NOT NULL,
    quiet_until text DEFAULT ''::text NOT NULL,
    muted text[] DEFAULT '{}'::text[] NOT NULL,
    while_running text DEFAULT 'steer'::text NOT NULL,
    channel_events boolean DEFAULT false NOT NULL,
    told_full_at timestamp with time zone,
    CONSTRAINT tenants_quiet_check CHECK (((quiet_from = ''::text) = (quiet_until = ''::text))),
    CONSTRAINT tenants_quiet_from_check CHECK ((quiet_from ~ '^(|([01][0-9]|2[0-3]):[0-5][0-9])$'::text)),
    CONSTRAINT tenants_quiet_until_check CHECK ((quiet_until ~ '^(|([01][0-9]|2[0-3]):[0-5][0-9])$'::text)),
    CONSTRAINT tenants_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text, 'guest'::text]))),
    CONSTRAINT tenants_while_running_check CHECK ((while_running = ANY (ARRAY['steer'::text, 'queue'::text, 'interrupt'::text])))
);

ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;

CREATE TABLE public.turns (
    tenant_id text NOT NULL,
    id text NOT NULL,
    lane_id text NOT NULL,
    conversation_id text,
    state text DEFAULT 'running'::text NOT NULL,
    attempts integer DEFAULT 1 NOT NULL,
    fence bigint NOT NULL,
    owner text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    usage jsonb DEFAULT '{}'::jsonb NOT NULL,
    stop_message text,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    ready boolean DEFAULT false NOT NULL,
    waiting_step integer,
    suspect boolean DEFAULT false NOT NULL,
    blamed integer DEFAULT 0 NOT NULL,
    died_after integer DEFAULT '-1'::integer NOT NULL,
    died_there integer DEFAULT 0 NOT NULL,
    deaths integer DEFAULT 0 NOT NULL,
    tried_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT turns_state_check CHECK ((state = ANY (ARRAY['running'::text, 'waiting'::text, 'done'::text, 'failed'::text, 'interrupted'::text, 'poison'::text])))
);

ALTER TABLE ONLY public.turns FORCE ROW LEVEL SECURITY;

CREATE TABLE public.worker_health (
    worker text NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    clock_ahead double precision,
    failing jsonb DEFAULT '[]'::jsonb NOT NULL
);

ALTER TABLE ONLY public.worker_health FORCE ROW LEVEL SECURITY;

CREATE UNLOGGED TABLE public.write_probe (
    filler text NOT NULL
);
ALTER TABLE ONLY public.write_probe ALTER COLUMN filler SET STORAGE PLAIN;

ALTER TABLE ONLY public.write_probe FORCE ROW LEVEL SECURITY;

ALTER TABLE ONLY public.approval_audit
    ADD CONSTRAINT approval_audit_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.approval_cards
    ADD CONSTRAINT approval_cards_pkey PRIMARY KEY (tenant_id, outbound_id);

ALTER TABLE ONLY public.approval_codes
    ADD CONSTRAINT approval_codes_pkey PRIMARY KEY (tenant_id, code);

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_token_key UNIQUE (token);

ALTER TABLE ONLY public.channel_state
    ADD CONSTRAINT channel_state_pkey PRIMARY KEY (channel, account);

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_tenant_id_channel_account_peer_thread_key UNIQUE (tenant_id, channel, account, peer, thread);

ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_pkey PRIMARY KEY (tenant_id, service, account_name);

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_pkey PRIMARY KEY (tenant_id, version);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (tenant_id, outbound_id, part, attempt);

ALTER TABLE ONLY public.event_groups
    ADD CONSTRAINT event_groups_pkey PRIMARY KEY (name, pattern);

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_id_key UNIQUE (id);

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.event_work
    ADD CONSTRAINT event_work_pkey PRIMARY KEY (tenant_id, source, event_id, group_name);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (tenant_id, source, id);

ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (tenant_id, conversation_id, "position");

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_channel_account_user_key_key UNIQUE (channel, account, user_key);

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.ignored_messages
    ADD CONSTRAINT ignored_messages_pkey PRIMARY KEY (channel, account, key);

ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_tenant_id_conversation_id_seq_key UNIQUE (tenant_id, conversation_id, seq);

ALTER TABLE ONLY public.inbox_keys
    ADD CONSTRAINT inbox_keys_pkey PRIMARY KEY (channel, account, key);

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.link_codes
    ADD CONSTRAINT link_codes_code_hash_key UNIQUE (code_hash);

ALTER TABLE ONLY public.link_codes
    ADD CONSTRAINT link_codes_pkey PRIMARY KEY (tenant_id, code_hash);

ALTER TABLE ONLY public.linked_rows
    ADD CONSTRAINT linked_rows_pkey PRIMARY KEY (tenant_id, link_id, of, key);

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_tenant_id_number_key UNIQUE (tenant_id, number);

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_tenant_id_source_key_key UNIQUE (tenant_id, source_key);

ALTER TABLE ONLY public.memory_forgettings
    ADD CONSTRAINT memory_forgettings_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.memory_jobs
    ADD CONSTRAINT memory_jobs_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.memory_members
    ADD CONSTRAINT memory_members_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.memory_messages
    ADD CONSTRAINT memory_messages_pkey PRIMARY KEY (tenant_id, session, "position");

ALTER TABLE ONLY public.memory_recalls
    ADD CONSTRAINT memory_recalls_pkey PRIMARY KEY (tenant_id, turn_id);

ALTER TABLE ONLY public.memory_sessions
    ADD CONSTRAINT memory_sessions_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.memory_terms
    ADD CONSTRAINT memory_terms_pkey PRIMARY KEY (tenant_id, embedder, term);

ALTER TABLE ONLY public.memory_vectors
    ADD CONSTRAINT memory_vectors_pkey PRIMARY KEY (tenant_id, memory_id, embedder);

ALTER TABLE ONLY public.memory_versions
    ADD CONSTRAINT memory_versions_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.outbound_parts
    ADD CONSTRAINT outbound_parts_pkey PRIMARY KEY (tenant_id, outbound_id, part);

ALTER TABLE ONLY public.outbound_parts
    ADD CONSTRAINT outbound_parts_ref_key UNIQUE (ref);

ALTER TABLE ONLY public.outbound
    ADD CONSTRAINT outbound_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.outbound
    ADD CONSTRAINT outbound_tenant_id_conversation_id_seq_key UNIQUE (tenant_id, conversation_id, seq);

ALTER TABLE ONLY public.pairings
    ADD CONSTRAINT pairings_pkey PRIMARY KEY (code_hash);

ALTER TABLE ONLY public.person_audit
    ADD CONSTRAINT person_audit_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.pool_entries
    ADD CONSTRAINT pool_entries_pkey PRIMARY KEY (tenant_id, agent_id);

ALTER TABLE ONLY public.profile_facts
    ADD CONSTRAINT profile_facts_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.profile_facts
    ADD CONSTRAINT profile_facts_tenant_id_number_key UNIQUE (tenant_id, number);

ALTER TABLE ONLY public.profile_jobs
    ADD CONSTRAINT profile_jobs_pkey PRIMARY KEY (tenant_id, turn_id);

ALTER TABLE ONLY public.redraws
    ADD CONSTRAINT redraws_pkey PRIMARY KEY (tenant_id, outbound_id);

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_pkey PRIMARY KEY (tenant_id, turn_id, agent_path, step, call_index);

ALTER TABLE ONLY public.run_notices
    ADD CONSTRAINT run_notices_pkey PRIMARY KEY (tenant_id, run_id, key);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.segment_days
    ADD CONSTRAINT segment_days_pkey PRIMARY KEY (tenant_id, day);

ALTER TABLE ONLY public.segments_of_all
    ADD CONSTRAINT segments_of_all_pkey PRIMARY KEY (day);

ALTER TABLE ONLY public.spending
    ADD CONSTRAINT spending_pkey PRIMARY KEY (tenant_id, day, task_id);

ALTER TABLE ONLY public.steps
    ADD CONSTRAINT steps_pkey PRIMARY KEY (tenant_id, turn_id, agent_path, step, call_index);

ALTER TABLE ONLY public.stored_collections
    ADD CONSTRAINT stored_collections_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.stored_values
    ADD CONSTRAINT stored_values_pkey PRIMARY KEY (tenant_id, collection, key);

ALTER TABLE ONLY public.stored_values
    ADD CONSTRAINT stored_values_tenant_id_collection_number_key UNIQUE (tenant_id, collection, number);

ALTER TABLE ONLY public.task_runs
    ADD CONSTRAINT task_runs_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.task_runs
    ADD CONSTRAINT task_runs_tenant_id_task_id_occurrence_key UNIQUE (tenant_id, task_id, occurrence);

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_tenant_id_number_key UNIQUE (tenant_id, number);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.worker_health
    ADD CONSTRAINT worker_health_pkey PRIMARY KEY (worker);

CREATE INDEX approval_audit_approval ON public.approval_audit USING btree (tenant_id, approval_id);

CREATE INDEX approval_cards_approval ON public.approval_cards USING btree (tenant_id, approval_id);

CREATE UNIQUE INDEX approvals_code ON public.approvals USING btree (tenant_id, code) WHERE (state = 'pending'::text);

CREATE INDEX approvals_due ON public.approvals USING btree (LEAST(expires_at, remind_at)) WHERE (state = 'pending'::text);

CREATE INDEX approvals_turn ON public.approvals USING btree (tenant_id, turn_id);

CREATE INDEX approvals_unsent ON public.approvals USING btree (created_at) WHERE ((state = 'pending'::text) AND (expires_at IS NULL));

CREATE INDEX consents_address ON public.consents USING btree (channel, account, user_key, id);

CREATE UNIQUE INDEX credentials_preferred ON public.credentials USING btree (tenant_id, service) WHERE preferred;

CREATE INDEX deliveries_lost ON public.deliveries USING btree (finished_at) WHERE (outcome = ANY (ARRAY['ambiguous'::text, 'found'::text, 'left'::text]));

CREATE INDEX event_sources_created ON public.event_sources USING btree (created_at);

CREATE INDEX event_sources_hash ON public.event_sources USING btree (secret_hash) WHERE (secret_hash IS NOT NULL);

CREATE INDEX event_work_waiting ON public.event_work USING btree (group_name, next_attempt_at) WHERE (state = 'waiting'::text);

CREATE INDEX events_received ON public.events USING btree (received_at);

CREATE INDEX guesses_scope ON public.guesses USING btree (scope, at);

CREATE INDEX identities_strangers ON public.identities USING btree (tenant_id, id) WHERE (admitted = ''::text);

CREATE INDEX ignored_messages_received ON public.ignored_messages USING btree (received_at);

CREATE INDEX inbound_id ON public.inbound USING btree (id);

CREATE INDEX inbound_provider ON public.inbound USING btree (provider_id) WHERE (provider_id <> ''::text);

CREATE INDEX inbound_turn ON public.inbound USING btree (tenant_id, turn_id);

CREATE INDEX inbound_waiting ON public.inbound USING btree (tenant_id, conversation_id, seq) WHERE (state = 'waiting'::text);

CREATE INDEX inbox_keys_inbound ON public.inbox_keys USING btree (tenant_id, inbound_id);

CREATE INDEX lanes_busy ON public.lanes USING btree (tenant_id) WHERE (lease_until IS NOT NULL);

CREATE INDEX lanes_id ON public.lanes USING btree (id);

CREATE INDEX lanes_owner ON public.lanes USING btree (owner) WHERE (owner IS NOT NULL);

CREATE INDEX lanes_pending ON public.lanes USING btree (pending_since) WHERE pending;

CREATE INDEX link_codes_made ON public.link_codes USING btree (made_at);

CREATE INDEX memories_valid ON public.memories USING btree (tenant_id, collection) WHERE (valid_to IS NULL);

CREATE INDEX memory_jobs_due ON public.memory_jobs USING btree (not_before);

CREATE INDEX memory_members_shared ON public.memory_members USING btree (shared_id);

CREATE INDEX memory_sessions_due ON public.memory_sessions USING btree (expires_at);

CREATE INDEX notifications_at ON public.notifications USING btree (at);

CREATE INDEX notifications_conversation ON public.notifications USING btree (tenant_id, conversation_id);

CREATE INDEX notifications_failed ON public.notifications USING btree (tenant_id, id) WHERE (state = 'failed'::text);

CREATE INDEX notifications_held ON public.notifications USING btree (not_before) WHERE (state = 'held'::text);

CREATE INDEX notifications_key ON public.notifications USING btree (tenant_id, dedupe_key, at);

CREATE INDEX notifications_open ON public.notifications USING btree (owed_at) WHERE (state = 'owed'::text);

CREATE INDEX notifications_outbound ON public.notifications USING btree (tenant_id, outbound_id);

CREATE INDEX notifications_owed ON public.notifications USING btree (tenant_id, owed_at);

CREATE INDEX notifications_silent ON public.notifications USING btree (fall_back_at) WHERE ((state = 'sent'::text) AND (fall_back_at IS NOT NULL));

CREATE INDEX outbound_conversation ON public.outbound USING btree (conversation_id) WHERE (state = ANY (ARRAY['ready'::text, 'sending'::text, 'checking'::text]));

CREATE INDEX outbound_due ON public.outbound USING btree (next_attempt_at) WHERE (state = ANY (ARRAY['ready'::text, 'sending'::text, 'checking'::text]));

CREATE INDEX outbound_given_up ON public.outbound USING btree (tenant_id, conversation_id) WHERE (given_up_at IS NOT NULL);

CREATE UNIQUE INDEX outbound_growing ON public.outbound USING btree (tenant_id, turn_id) WHERE ((state = 'held'::text) AND (stream_at IS NOT NULL));

CREATE INDEX outbound_held ON public.outbound USING btree (tenant_id) WHERE (state = 'held'::text);

CREATE INDEX outbound_id ON public.outbound USING btree (id);

CREATE INDEX outbound_open ON public.outbound USING btree (tenant_id, conversation_id, seq) WHERE (state = ANY (ARRAY['ready'::text, 'sending'::text, 'checking'::text]));

CREATE INDEX outbound_owner ON public.outbound USING btree (owner) WHERE (owner IS NOT NULL);

CREATE INDEX outbound_parts_provider ON public.outbound_parts USING btree (provider_id) WHERE (provider_id <> ''::text);

CREATE INDEX pairings_account ON public.pairings USING btree (channel, account, asked_at);

CREATE INDEX pool_entries_due ON public.pool_entries USING btree (expires_at) WHERE (status <> ALL (ARRAY['CANCELLED'::text, 'COMPLETED'::text]));

CREATE INDEX pool_entries_turn ON public.pool_entries USING btree (tenant_id, turn_id);

CREATE INDEX profile_facts_in_force ON public.profile_facts USING btree (tenant_id, key) WHERE ((replaced_by IS NULL) AND (undone_at IS NULL));

CREATE INDEX profile_jobs_due ON public.profile_jobs USING btree (not_before);

CREATE INDEX redraws_due ON public.redraws USING btree (next_attempt_at) WHERE (state = 'due'::text);

CREATE INDEX reservations_day ON public.reservations USING btree (tenant_id, day) WHERE (NOT settled);

CREATE INDEX run_notices_failed ON public.run_notices USING btree (tenant_id) WHERE (state = 'failed'::text);

CREATE INDEX run_notices_open ON public.run_notices USING btree (next_attempt_at) WHERE (state = 'open'::text);

CREATE INDEX steps_unknown ON public.steps USING btree (tenant_id, name, args_hash) WHERE (outcome = 'unknown'::text);

CREATE INDEX task_runs_conversation ON public.task_runs USING btree (tenant_id, conversation_id);

CREATE INDEX task_runs_over ON public.task_runs USING btree (finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX task_runs_task ON public.task_runs USING btree (tenant_id, task_id, created_at DESC);

CREATE INDEX task_runs_turn ON public.task_runs USING btree (tenant_id, turn_id);

CREATE INDEX tasks_due ON public.tasks USING btree (next_at) WHERE ((state = 'ACTIVE'::text) AND (next_at IS NOT NULL) AND (NOT held));

CREATE INDEX tasks_events ON public.tasks USING btree (tenant_id) WHERE ((kind = 'event'::text) AND (state = 'ACTIVE'::text));

CREATE INDEX tasks_over ON public.tasks USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX tasks_set_aside ON public.tasks USING btree (tenant_id, number) WHERE (set_aside <> ''::text);

CREATE INDEX turns_id ON public.turns USING btree (id);

CREATE UNIQUE INDEX turns_one_running ON public.turns USING btree (tenant_id, lane_id) WHERE (state = 'running'::text);

CREATE INDEX turns_ready ON public.turns USING btree (tenant_id, lane_id) WHERE ((state = 'waiting'::text) AND ready);

CREATE INDEX turns_suspect ON public.turns USING btree (tenant_id, lane_id) WHERE ((state = 'running'::text) AND suspect);

CREATE TRIGGER adopt_stream BEFORE INSERT ON public.outbound FOR EACH ROW WHEN (((new.kind = 'reply'::text) AND (new.turn_id IS NOT NULL) AND (new.stream_at IS NULL))) EXECUTE FUNCTION public.adopt_stream();

CREATE TRIGGER approvals_told AFTER UPDATE OF expires_at, state ON public.approvals FOR EACH ROW WHEN (((new.source = 'trigger'::text) AND (((old.expires_at IS NULL) AND (new.expires_at IS NOT NULL)) OR ((old.state = 'pending'::text) AND (new.state <> 'pending'::text))))) EXECUTE FUNCTION public.tell_of_card();

CREATE TRIGGER identities_consent AFTER UPDATE OF state ON public.identities FOR EACH ROW WHEN ((old.state IS DISTINCT FROM new.state)) EXECUTE FUNCTION public.note_consent();

CREATE TRIGGER identities_hold AFTER INSERT OR DELETE OR UPDATE OF state, tenant_id ON public.identities FOR EACH ROW EXECUTE FUNCTION public.hold_tasks();

CREATE TRIGGER identities_unreachable AFTER UPDATE OF state ON public.identities FOR EACH ROW WHEN (((old.state = 'active'::text) AND (new.state = ANY (ARRAY['stopped'::text, 'blocked'::text])) AND (new.admitted <> ''::text))) EXECUTE FUNCTION public.tell_elsewhere();

CREATE TRIGGER inbound_event AFTER INSERT ON public.inbound FOR EACH ROW WHEN (((new.state = 'waiting'::text) AND (new.command IS NULL))) EXECUTE FUNCTION public.note_received();

CREATE TRIGGER outbound_event AFTER UPDATE OF state ON public.outbound FOR EACH ROW WHEN (((old.state <> 'failed'::text) AND (new.state = 'failed'::text))) EXECUTE FUNCTION public.note_undelivered();

CREATE TRIGGER outbound_notification AFTER UPDATE OF state ON public.outbound FOR EACH ROW WHEN (((new.kind = 'notification'::text) AND (old.state IS DISTINCT FROM new.state) AND (new.state = ANY (ARRAY['sent'::text, 'ambiguous'::text, 'failed'::text])))) EXECUTE FUNCTION public.note_notification();

CREATE TRIGGER outbound_part_undelivered AFTER UPDATE OF status ON public.outbound_parts FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) AND (new.status = ANY (ARRAY['undelivered'::text, 'failed'::text])))) EXECUTE FUNCTION public.note_notification_undelivered();

CREATE TRIGGER owe_memory AFTER UPDATE OF state ON public.turns FOR EACH ROW WHEN (((new.state = ANY (ARRAY['waiting'::text, 'done'::text, 'failed'::text, 'interrupted'::text])) AND (old.state IS DISTINCT FROM new.state))) EXECUTE FUNCTION public.owe_memory();

CREATE CONSTRAINT TRIGGER release_stream AFTER UPDATE OF state ON public.turns DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.state <> 'running'::text)) EXECUTE FUNCTION public.release_stream();

CREATE TRIGGER tasks_end BEFORE UPDATE OF state ON public.tasks FOR EACH ROW WHEN ((old.state IS DISTINCT FROM new.state)) EXECUTE FUNCTION public.note_task_end();

CREATE TRIGGER tasks_hold BEFORE INSERT OR UPDATE OF tenant_id ON public.tasks FOR EACH ROW EXECUTE FUNCTION public.hold_task();

CREATE TRIGGER tasks_looks BEFORE UPDATE OF revision ON public.tasks FOR EACH ROW WHEN ((old.revision IS DISTINCT FROM new.revision)) EXECUTE FUNCTION public.forget_looks();

CREATE TRIGGER tenants_reconsider AFTER UPDATE OF quiet_from, quiet_until, timezone, muted ON public.tenants FOR EACH ROW WHEN (((((old.quiet_from IS DISTINCT FROM new.quiet_from) OR (old.quiet_until IS DISTINCT FROM new.quiet_until)) OR (old.timezone IS DISTINCT FROM new.timezone)) OR (old.muted IS DISTINCT FROM new.muted))) EXECUTE FUNCTION public.reconsider_held();

CREATE TRIGGER tenants_rezone AFTER UPDATE OF timezone ON public.tenants FOR EACH ROW WHEN ((old.timezone IS DISTINCT FROM new.timezone)) EXECUTE FUNCTION public.rezone_tasks();

CREATE TRIGGER turns_profile AFTER UPDATE OF state ON public.turns FOR EACH ROW WHEN (((old.state = 'running'::text) AND (new.state = ANY (ARRAY['done'::text, 'waiting'::text])))) EXECUTE FUNCTION public.owe_profile();

ALTER TABLE ONLY public.approval_audit
    ADD CONSTRAINT approval_audit_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approval_cards
    ADD CONSTRAINT approval_cards_tenant_id_approval_id_fkey FOREIGN KEY (tenant_id, approval_id) REFERENCES public.approvals(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approval_cards
    ADD CONSTRAINT approval_cards_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approval_cards
    ADD CONSTRAINT approval_cards_tenant_id_outbound_id_fkey FOREIGN KEY (tenant_id, outbound_id) REFERENCES public.outbound(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approval_codes
    ADD CONSTRAINT approval_codes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_tenant_id_identity_id_fkey FOREIGN KEY (tenant_id, identity_id) REFERENCES public.identities(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_tenant_id_key_version_fkey FOREIGN KEY (tenant_id, key_version) REFERENCES public.data_keys(tenant_id, version) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_tenant_id_outbound_id_part_fkey FOREIGN KEY (tenant_id, outbound_id, part) REFERENCES public.outbound_parts(tenant_id, outbound_id, part) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_tenant_id_key_version_fkey FOREIGN KEY (tenant_id, key_version) REFERENCES public.data_keys(tenant_id, version) DEFERRABLE;

ALTER TABLE ONLY public.event_work
    ADD CONSTRAINT event_work_tenant_id_source_event_id_fkey FOREIGN KEY (tenant_id, source, event_id) REFERENCES public.events(tenant_id, source, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) DEFERRABLE;

ALTER TABLE ONLY public.inbox_keys
    ADD CONSTRAINT inbox_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.link_codes
    ADD CONSTRAINT link_codes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.linked_rows
    ADD CONSTRAINT linked_rows_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.linked_rows
    ADD CONSTRAINT linked_rows_tenant_id_link_id_fkey FOREIGN KEY (tenant_id, link_id) REFERENCES public.links(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_forgettings
    ADD CONSTRAINT memory_forgettings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_jobs
    ADD CONSTRAINT memory_jobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_jobs
    ADD CONSTRAINT memory_jobs_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_members
    ADD CONSTRAINT memory_members_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_messages
    ADD CONSTRAINT memory_messages_tenant_id_session_fkey FOREIGN KEY (tenant_id, session) REFERENCES public.memory_sessions(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_recalls
    ADD CONSTRAINT memory_recalls_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_sessions
    ADD CONSTRAINT memory_sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_terms
    ADD CONSTRAINT memory_terms_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_vectors
    ADD CONSTRAINT memory_vectors_tenant_id_memory_id_fkey FOREIGN KEY (tenant_id, memory_id) REFERENCES public.memories(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_versions
    ADD CONSTRAINT memory_versions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE SET NULL (conversation_id) DEFERRABLE;

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.outbound_parts
    ADD CONSTRAINT outbound_parts_tenant_id_outbound_id_fkey FOREIGN KEY (tenant_id, outbound_id) REFERENCES public.outbound(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.outbound
    ADD CONSTRAINT outbound_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.outbound
    ADD CONSTRAINT outbound_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.person_audit
    ADD CONSTRAINT person_audit_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.pool_entries
    ADD CONSTRAINT pool_entries_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.pool_entries
    ADD CONSTRAINT pool_entries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.pool_entries
    ADD CONSTRAINT pool_entries_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.profile_facts
    ADD CONSTRAINT profile_facts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.profile_jobs
    ADD CONSTRAINT profile_jobs_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.redraws
    ADD CONSTRAINT redraws_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.redraws
    ADD CONSTRAINT redraws_tenant_id_outbound_id_fkey FOREIGN KEY (tenant_id, outbound_id) REFERENCES public.outbound(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.run_notices
    ADD CONSTRAINT run_notices_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES public.task_runs(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.segment_days
    ADD CONSTRAINT segment_days_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.spending
    ADD CONSTRAINT spending_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.steps
    ADD CONSTRAINT steps_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.stored_collections
    ADD CONSTRAINT stored_collections_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.stored_values
    ADD CONSTRAINT stored_values_tenant_id_collection_fkey FOREIGN KEY (tenant_id, collection) REFERENCES public.stored_collections(tenant_id, name) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.task_runs
    ADD CONSTRAINT task_runs_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE SET NULL (conversation_id) DEFERRABLE;

ALTER TABLE ONLY public.task_runs
    ADD CONSTRAINT task_runs_tenant_id_task_id_fkey FOREIGN KEY (tenant_id, task_id) REFERENCES public.tasks(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_tenant_id_lane_id_fkey FOREIGN KEY (tenant_id, lane_id) REFERENCES public.lanes(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE public.approval_audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_cards ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.channel_state ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.consents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.conversations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.credentials ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.data_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_sources ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_work ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.guesses ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.history ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.identities ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.ignored_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbound ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.lanes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.link_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.linked_rows ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memories ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_forgettings ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_recalls ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_terms ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_vectors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_versions ENABLE ROW LEVEL SECURITY;

CREATE POLICY nobodys ON public.channel_state USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.consents FOR INSERT WITH CHECK (true);

CREATE POLICY nobodys ON public.event_groups FOR SELECT USING (true);

CREATE POLICY nobodys ON public.guesses USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.ignored_messages USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.pairings USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.schema_migrations FOR SELECT USING (true);

CREATE POLICY nobodys ON public.segments_of_all USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.worker_health USING (true) WITH CHECK (true);

ALTER TABLE public.notifications ENABLE ROW LEVEL SECURITY;

CREATE POLICY one_tenant ON public.approval_audit TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.approval_cards TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.approval_codes TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.approvals TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.conversations TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.credentials TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.data_keys TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.deliveries TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.event_sources TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.event_work TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.events TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.history TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.identities TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.inbound TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.inbox_keys TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.lanes TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.link_codes TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.linked_rows TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.links TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memories TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_forgettings TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_jobs TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_members TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_messages TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_recalls TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_sessions TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_terms TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_vectors TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_versions TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.notifications TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.outbound TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.outbound_parts TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.person_audit TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.pool_entries TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.profile_facts TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.profile_jobs TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.redraws TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.reservations TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.run_notices TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.segment_days TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.spending TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.steps TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.stored_collections TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.stored_values TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.task_runs TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.tasks TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.tenants TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.turns TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

ALTER TABLE public.outbound ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.outbound_parts ENABLE ROW LEVEL SECURITY;

CREATE POLICY owner ON public.approval_audit TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approval_cards TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approval_codes TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.consents TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.conversations TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.credentials TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.data_keys TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.deliveries TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.event_groups TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.event_sources TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.event_work TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.events TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.guesses TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.history TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.identities TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.inbound TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.inbox_keys TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.lanes TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.link_codes TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.linked_rows TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.links TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memories TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_forgettings TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_jobs TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_members TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_messages TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_recalls TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_sessions TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_terms TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_vectors TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_versions TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.notifications TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.outbound TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.outbound_parts TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.pairings TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.person_audit TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.pool_entries TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.profile_facts TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.profile_jobs TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.redraws TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.reservations TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.run_notices TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.schema_migrations TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.segment_days TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.spending TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.steps TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.stored_collections TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.stored_values TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.task_runs TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tasks TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.turns TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.write_probe TO onevalet USING (true) WITH CHECK (true);

ALTER TABLE public.pairings ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.person_audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.pool_entries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.profile_facts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.profile_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.redraws ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.reservations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.run_notices ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.schema_migrations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.segment_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.segments_of_all ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.spending ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.steps ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.stored_collections ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.stored_values ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.task_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tasks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.turns ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.worker_health ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.write_probe ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA public TO onevalet_app;

REVOKE ALL ON FUNCTION public.add_data_key(p_tenant text, p_secret_key_id text, p_wrapped bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.add_data_key(p_tenant text, p_secret_key_id text, p_wrapped bytea) TO onevalet_app;

REVOKE ALL ON FUNCTION public.add_event_group(p_name text, p_pattern text, p_since interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.add_event_group(p_name text, p_pattern text, p_since interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.add_guess(p_scope text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.add_guess(p_scope text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.admit_address(p_id text, p_channel text, p_account text, p_user_key text, p_role text, p_tier text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.admit_address(p_id text, p_channel text, p_account text, p_user_key text, p_role text, p_tier text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.admit_identity(p_channel text, p_account text, p_user_key text, p_name text, p_timezone text, p_tenant_id text, p_identity_id text, p_admitted text, p_role text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.admit_identity(p_channel text, p_account text, p_user_key text, p_name text, p_timezone text, p_tenant_id text, p_identity_id text, p_admitted text, p_role text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.adopt_stream() FROM PUBLIC;
GRANT ALL ON FUNCTION public.adopt_stream() TO onevalet_app;

REVOKE ALL ON FUNCTION public.allow_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_day date, p_task text, p_more numeric) FROM PUBLIC;
GRANT ALL ON FUNCTION public.allow_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_day date, p_task text, p_more numeric) TO onevalet_app;

REVOKE ALL ON FUNCTION public.answered_card(p_tenant text, p_conversation text, p_reply_to text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.answered_card(p_tenant text, p_conversation text, p_reply_to text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.apply_status(p_channel text, p_account text, p_ref text, p_provider_id text, p_status text, p_rank integer, p_error_code text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.apply_status(p_channel text, p_account text, p_ref text, p_provider_id text, p_status text, p_rank integer, p_error_code text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.approval_hash(p_head text, p_expires_at timestamp with time zone, p_tail text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.approval_hash(p_head text, p_expires_at timestamp with time zone, p_tail text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.approval_ran(p_tenant text, p_approval text, p_outcome text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.approval_ran(p_tenant text, p_approval text, p_outcome text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.audit_approval(p_tenant text, p_approval text, p_at timestamp with time zone, p_what text, p_identity text, p_channel text, p_how text, p_detail jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_approval(p_tenant text, p_approval text, p_at timestamp with time zone, p_what text, p_identity text, p_channel text, p_how text, p_detail jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.begin_delivery(p_tenant text, p_outbound text, p_fence bigint, p_part integer, p_attempt integer, p_owner text, p_ttl interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_delivery(p_tenant text, p_outbound text, p_fence bigint, p_part integer, p_attempt integer, p_owner text, p_ttl interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.begin_delivery(p_tenant text, p_outbound text, p_fence bigint, p_part integer, p_attempt integer, p_owner text, p_ttl interval, p_segments integer, p_now timestamp with time zone, p_most_of_person integer, p_most_of_all integer, p_over text, p_moved text, p_notice text, p_copy text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_delivery(p_tenant text, p_outbound text, p_fence bigint, p_part integer, p_attempt integer, p_owner text, p_ttl interval, p_segments integer, p_now timestamp with time zone, p_most_of_person integer, p_most_of_all integer, p_over text, p_moved text, p_notice text, p_copy text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.begin_link(p_kept text, p_turn text, p_code_hash bytea, p_agreed boolean, p_tables text[], p_now timestamp with time zone, p_most_of_sender integer, p_window interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_link(p_kept text, p_turn text, p_code_hash bytea, p_agreed boolean, p_tables text[], p_now timestamp with time zone, p_most_of_sender integer, p_window interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.begin_look(p_tenant text, p_task text, p_begun integer, p_now timestamp with time zone, p_lease interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_look(p_tenant text, p_task text, p_begun integer, p_now timestamp with time zone, p_lease interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.begin_parting(p_tenant text, p_link text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_parting(p_tenant text, p_link text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.begin_run(p_tenant text, p_turn text, p_on text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_run(p_tenant text, p_turn text, p_on text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.begin_stream(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_stream(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.begin_turn(p_tenant text, p_lane text, p_fence bigint, p_owner text, p_turn text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_turn(p_tenant text, p_lane text, p_fence bigint, p_owner text, p_turn text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.blot(p_value jsonb, p_phrases text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.blot(p_value jsonb, p_phrases text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.blot_out(p_tenant text, p_phrases text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.blot_out(p_tenant text, p_phrases text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.blot_out_beside(p_tenant text, p_phrases text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.blot_out_beside(p_tenant text, p_phrases text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.cards_sent(p_tenant text, p_approval text, p_pressed boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.cards_sent(p_tenant text, p_approval text, p_pressed boolean) TO onevalet_app;

REVOKE ALL ON FUNCTION public.change_address(p_channel text, p_account text, p_old text, p_new text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.change_address(p_channel text, p_account text, p_old text, p_new text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.change_member(p_owner text, p_name text, p_member text, p_in boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.change_member(p_owner text, p_name text, p_member text, p_in boolean) TO onevalet_app;

REVOKE ALL ON FUNCTION public.change_pool_entry(p_tenant text, p_agent text, p_change text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.change_pool_entry(p_tenant text, p_agent text, p_change text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.change_reachability(p_channel text, p_account text, p_user_key text, p_state text, p_reason text, p_keys text[], p_reply text, p_outbound text, p_new_conversation text, p_said_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.change_reachability(p_channel text, p_account text, p_user_key text, p_state text, p_reason text, p_keys text[], p_reply text, p_outbound text, p_new_conversation text, p_said_at timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.change_task(p_tenant text, p_task text, p_change text, p_now timestamp with time zone, p_due timestamp with time zone, p_next timestamp with time zone, p_zone text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.change_task(p_tenant text, p_task text, p_change text, p_now timestamp with time zone, p_due timestamp with time zone, p_next timestamp with time zone, p_zone text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.check_confirm(p_tenant text, p_approval text, p_given text, p_fresh text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.check_confirm(p_tenant text, p_approval text, p_given text, p_fresh text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_due_tasks(p_now timestamp with time zone, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_due_tasks(p_now timestamp with time zone, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_event(p_tenant text, p_source text, p_id text, p_group text, p_owner text, p_ttl interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_event(p_tenant text, p_source text, p_id text, p_group text, p_owner text, p_ttl interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_lane(p_lane text, p_owner text, p_ttl interval, p_most integer, p_suspects text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_lane(p_lane text, p_owner text, p_ttl interval, p_most integer, p_suspects text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_memory_job(p_id text, p_owner text, p_lease interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_memory_job(p_id text, p_owner text, p_lease interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_notices(p_most integer, p_lease interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_notices(p_most integer, p_lease interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_outbound(p_conversation text, p_owner text, p_ttl interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_outbound(p_conversation text, p_owner text, p_ttl interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_poll(p_channel text, p_account text, p_owner text, p_ttl interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_poll(p_channel text, p_account text, p_owner text, p_ttl interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_profile(p_owner text, p_ttl interval, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_profile(p_owner text, p_ttl interval, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_redraw(p_ttl interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_redraw(p_ttl interval) TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.links TO onevalet_app;

REVOKE ALL ON FUNCTION public.claim_since(p_tenant text, p_link public.links) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_since(p_tenant text, p_link public.links) TO onevalet_app;

REVOKE ALL ON FUNCTION public.close_questions(p_tenant text, p_conversation text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.close_questions(p_tenant text, p_conversation text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.close_steps(p_tenant text, p_turn text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.close_steps(p_tenant text, p_turn text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.close_waiting_turn(p_tenant text, p_turn text, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.close_waiting_turn(p_tenant text, p_turn text, p_reason text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_belongings(p_kept text, p_gone text, p_tables text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_belongings(p_kept text, p_gone text, p_tables text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_consents(p_channel text, p_account text, p_user_key text, p_within interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_consents(p_channel text, p_account text, p_user_key text, p_within interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_delayed(p_after interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_delayed(p_after interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_event_runs(p_tenant text, p_task text, p_within interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_event_runs(p_tenant text, p_task text, p_within interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_given_up(p_within interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_given_up(p_within interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_lost_answers(p_within interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_lost_answers(p_within interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_refused(OUT memory_jobs bigint, OUT redraws bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_refused(OUT memory_jobs bigint, OUT redraws bigint) TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_set_aside() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_set_aside() TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_waiting(p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_waiting(p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.count_work() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_work() TO onevalet_app;

REVOKE ALL ON FUNCTION public.cut_across(p_tenant text, p_other text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.cut_across(p_tenant text, p_other text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.decide_approval(p_tenant text, p_approval text, p_state text, p_identity text, p_channel text, p_how text, p_now timestamp with time zone, p_proposed jsonb, p_outcome text, p_said_in text, OUT decided boolean, OUT lane_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.decide_approval(p_tenant text, p_approval text, p_state text, p_identity text, p_channel text, p_how text, p_now timestamp with time zone, p_proposed jsonb, p_outcome text, p_said_in text, OUT decided boolean, OUT lane_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.decided_before(p_tenant text, p_inbound text, p_label text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.decided_before(p_tenant text, p_inbound text, p_label text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.delete_credentials(p_tenant text, p_service text, p_account text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_credentials(p_tenant text, p_service text, p_account text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.delete_value(p_tenant text, p_collection text, p_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_value(p_tenant text, p_collection text, p_key text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.draw_outcome(p_tenant text, p_approval text, p_outcome text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.draw_outcome(p_tenant text, p_approval text, p_outcome text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.drop_event_group(p_name text, p_pattern text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_event_group(p_name text, p_pattern text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.drop_ignored(p_before timestamp with time zone, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_ignored(p_before timestamp with time zone, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.drop_link_codes(p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_link_codes(p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.drop_strangers(p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_strangers(p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.drop_unknown(p_before timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_unknown(p_before timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.due_reminders(p_now timestamp with time zone, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_reminders(p_now timestamp with time zone, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.end_catch_up(p_channel text, p_account text, p_owner text, p_began timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_catch_up(p_channel text, p_account text, p_owner text, p_began timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.end_delivery(p_tenant text, p_outbound text, p_fence bigint, p_part integer, p_attempt integer, p_part_state text, p_outcome text, p_error_code text, p_reason text, p_provider_id text, p_degraded boolean, p_delay interval, p_identity_state text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_delivery(p_tenant text, p_outbound text, p_fence bigint, p_part integer, p_attempt integer, p_part_state text, p_outcome text, p_error_code text, p_reason text, p_provider_id text, p_degraded boolean, p_delay interval, p_identity_state text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.end_event(p_tenant text, p_source text, p_id text, p_group text, p_owner text, p_state text, p_reason text, p_delay interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_event(p_tenant text, p_source text, p_id text, p_group text, p_owner text, p_state text, p_reason text, p_delay interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.end_leases(p_worker text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_leases(p_worker text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.end_leases(p_worker text, p_hung text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_leases(p_worker text, p_hung text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.end_profile(p_tenant text, p_owner text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_profile(p_tenant text, p_owner text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.end_redraw(p_tenant text, p_outbound text, p_fence bigint, p_outcome text, p_state text, p_reason text, p_delay interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_redraw(p_tenant text, p_outbound text, p_fence bigint, p_outcome text, p_state text, p_reason text, p_delay interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.end_stream(p_tenant text, p_outbound text, p_fence bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_stream(p_tenant text, p_outbound text, p_fence bigint) TO onevalet_app;

REVOKE ALL ON FUNCTION public.end_unpaid(p_tenant text, p_outbound text, p_fence bigint, p_day date, p_why text, p_over text, p_moved text, p_notice text, p_copy text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_unpaid(p_tenant text, p_outbound text, p_fence bigint, p_day date, p_why text, p_over text, p_moved text, p_notice text, p_copy text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.event_source_keys(p_since timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.event_source_keys(p_since timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.expire_approvals(p_now timestamp with time zone, p_outcome text, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.expire_approvals(p_now timestamp with time zone, p_outcome text, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.expire_pool(p_now timestamp with time zone, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.expire_pool(p_now timestamp with time zone, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.fail_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fail_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.fail_turn(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_reason text, p_absorbed text[], p_outbound text, p_text text, p_begun_text text, p_run_text text, p_run_begun_text text, p_most_failures integer, p_disabled text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fail_turn(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_reason text, p_absorbed text[], p_outbound text, p_text text, p_begun_text text, p_run_text text, p_run_begun_text text, p_most_failures integer, p_disabled text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_approval(p_token text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_approval(p_token text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_consent(p_channel text, p_account text, p_user_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_consent(p_channel text, p_account text, p_user_key text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_conversations(p_channel text, p_account text, p_peer text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_conversations(p_channel text, p_account text, p_peer text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_data_keys(p_not_under text, p_after_tenant text, p_after_version integer, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_data_keys(p_not_under text, p_after_tenant text, p_after_version integer, p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_delayed(p_after interval, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_delayed(p_after interval, p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_event_source(p_source text, p_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_event_source(p_source text, p_hash bytea) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_event_work(p_group text, p_after interval, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_event_work(p_group text, p_after interval, p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_failed_notices(p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_failed_notices(p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_held(p_now timestamp with time zone, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_held(p_now timestamp with time zone, p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_held(p_now timestamp with time zone, p_limit integer, p_without text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_held(p_now timestamp with time zone, p_limit integer, p_without text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_held_cards(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_held_cards(p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_identity(p_channel text, p_account text, p_user_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_identity(p_channel text, p_account text, p_user_key text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_link(p_tenant text, p_turn text, p_since timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_link(p_tenant text, p_turn text, p_since timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_link_code(p_code_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_link_code(p_code_hash bytea) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_part(p_channel text, p_account text, p_ref text, p_provider_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_part(p_channel text, p_account text, p_ref text, p_provider_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_pending(p_code text, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_pending(p_code text, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_received(p_channel text, p_account text, p_keys text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_received(p_channel text, p_account text, p_keys text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_set_aside(p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_set_aside(p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_tenants(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_tenants(p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_trace(p_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_trace(p_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_undelivered(p_now timestamp with time zone, p_stuck interval, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_undelivered(p_now timestamp with time zone, p_stuck interval, p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.find_undelivered(p_now timestamp with time zone, p_stuck interval, p_limit integer, p_without text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_undelivered(p_now timestamp with time zone, p_stuck interval, p_limit integer, p_without text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.finish_turn(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_state text, p_reason text, p_usage jsonb, p_history jsonb, p_outbound jsonb, p_absorbed text[], p_new_session boolean, p_pool jsonb, p_waiting_step integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.finish_turn(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_state text, p_reason text, p_usage jsonb, p_history jsonb, p_outbound jsonb, p_absorbed text[], p_new_session boolean, p_pool jsonb, p_waiting_step integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.fire_tasks(p_tasks jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fire_tasks(p_tasks jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.forget_looks() FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_looks() TO onevalet_app;

REVOKE ALL ON FUNCTION public.forget_stream(p_tenant text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_stream(p_tenant text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.form_shown(p_tenant text, p_approval text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.form_shown(p_tenant text, p_approval text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.give_back_outbound(p_tenant text, p_outbound text, p_fence bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.give_back_outbound(p_tenant text, p_outbound text, p_fence bigint) TO onevalet_app;

REVOKE ALL ON FUNCTION public.hold_lane(p_tenant text, p_lane text, p_fence bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.hold_lane(p_tenant text, p_lane text, p_fence bigint) TO onevalet_app;

REVOKE ALL ON FUNCTION public.hold_outbound(p_tenant text, p_outbound text, p_fence bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.hold_outbound(p_tenant text, p_outbound text, p_fence bigint) TO onevalet_app;

REVOKE ALL ON FUNCTION public.hold_person(p_tenant text, p_alone boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.hold_person(p_tenant text, p_alone boolean) TO onevalet_app;

REVOKE ALL ON FUNCTION public.hold_task() FROM PUBLIC;
GRANT ALL ON FUNCTION public.hold_task() TO onevalet_app;

REVOKE ALL ON FUNCTION public.hold_tasks() FROM PUBLIC;
GRANT ALL ON FUNCTION public.hold_tasks() TO onevalet_app;

REVOKE ALL ON FUNCTION public.hold_turn(p_tenant text, p_turn text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.hold_turn(p_tenant text, p_turn text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.home_conversation(p_tenant text, p_channel text, p_on text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.home_conversation(p_tenant text, p_channel text, p_on text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.ignore_message(p_channel text, p_account text, p_keys text[], p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.ignore_message(p_channel text, p_account text, p_keys text[], p_reason text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.is_unreachable(p_tenant text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.is_unreachable(p_tenant text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.issue_code(p_tenant text, p_holder text, p_codes text[], p_now timestamp with time zone, p_rest interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.issue_code(p_tenant text, p_holder text, p_codes text[], p_now timestamp with time zone, p_rest interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.judge_dead(p_process text, p_hung text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.judge_dead(p_process text, p_hung text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.judge_lapsed(p_me text, p_ttl interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.judge_lapsed(p_me text, p_ttl interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval, p_place text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval, p_place text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_fact(p_tenant text, p_id text, p_key text, p_value text, p_source text, p_turn text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_fact(p_tenant text, p_id text, p_key text, p_value text, p_source text, p_turn text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_failure(p_tenant text, p_conversation text, p_turn text, p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_failure(p_tenant text, p_conversation text, p_turn text, p_text text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_link_code(p_tenant text, p_turn text, p_code_hash bytea, p_now timestamp with time zone, p_expires timestamp with time zone, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_link_code(p_tenant text, p_turn text, p_code_hash bytea, p_now timestamp with time zone, p_expires timestamp with time zone, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_notification(p_tenant text, p_note jsonb, p_state text, p_not_before timestamp with time zone, p_same_since timestamp with time zone, p_places jsonb, p_outbound text, p_new_conversation text, p_now timestamp with time zone, p_fall_back_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_notification(p_tenant text, p_note jsonb, p_state text, p_not_before timestamp with time zone, p_same_since timestamp with time zone, p_places jsonb, p_outbound text, p_new_conversation text, p_now timestamp with time zone, p_fall_back_at timestamp with time zone) TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.outbound_parts TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_parts(p_tenant text, p_outbound text, p_fence bigint, p_parts jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_parts(p_tenant text, p_outbound text, p_fence bigint, p_parts jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_parts(p_tenant text, p_outbound text, p_fence bigint, p_parts jsonb, p_rest jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_parts(p_tenant text, p_outbound text, p_fence bigint, p_parts jsonb, p_rest jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_poll(p_channel text, p_account text, p_owner text, p_offset bigint, p_problem text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_poll(p_channel text, p_account text, p_owner text, p_offset bigint, p_problem text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_preferences(p_tenant text, p_values jsonb, p_turn text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_preferences(p_tenant text, p_values jsonb, p_turn text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.keep_stream(p_tenant text, p_lane text, p_fence bigint, p_outbound text, p_stream text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_stream(p_tenant text, p_lane text, p_fence bigint, p_outbound text, p_stream text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.lane_let_go(p_tenant text, p_lane text, p_fence bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.lane_let_go(p_tenant text, p_lane text, p_fence bigint) TO onevalet_app;

REVOKE ALL ON FUNCTION public.leave_catch_up(p_channel text, p_account text, p_owner text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.leave_catch_up(p_channel text, p_account text, p_owner text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.leave_lane(p_tenant text, p_lane text, p_fence bigint, p_delay interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.leave_lane(p_tenant text, p_lane text, p_fence bigint, p_delay interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.leave_notice(p_tenant text, p_run text, p_key text, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.leave_notice(p_tenant text, p_run text, p_key text, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.leave_profile(p_tenant text, p_owner text, p_delay interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.leave_profile(p_tenant text, p_owner text, p_delay interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.let_keys_wait() FROM PUBLIC;
GRANT ALL ON FUNCTION public.let_keys_wait() TO onevalet_app;

REVOKE ALL ON FUNCTION public.link_stranger(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_name text, p_timezone text, p_code_hash bytea, p_now timestamp with time zone, p_agreed boolean, p_most_of_sender integer, p_window interval, p_new_identity text, p_new_conversation text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.link_stranger(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_name text, p_timezone text, p_code_hash bytea, p_now timestamp with time zone, p_agreed boolean, p_most_of_sender integer, p_window interval, p_new_identity text, p_new_conversation text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.list_credentials(p_tenant text, p_service text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.list_credentials(p_tenant text, p_service text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.lock_spending(p_tenant text, p_day date) FROM PUBLIC;
GRANT ALL ON FUNCTION public.lock_spending(p_tenant text, p_day date) TO onevalet_app;

REVOKE ALL ON FUNCTION public.look_at_poll(p_channel text, p_account text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.look_at_poll(p_channel text, p_account text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.look_for_part(p_channel text, p_account text, p_ref text, p_provider_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.look_for_part(p_channel text, p_account text, p_ref text, p_provider_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.make_shared_collection(p_owner text, p_name text, p_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.make_shared_collection(p_owner text, p_name text, p_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.mark_channel(p_channel text, p_account text, p_in boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mark_channel(p_channel text, p_account text, p_in boolean) TO onevalet_app;

REVOKE ALL ON FUNCTION public.may_match(p_text text, p_pattern text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.may_match(p_text text, p_pattern text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.may_notify(p_tenant text, p_identity text, p_channel text, p_peer text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.may_notify(p_tenant text, p_identity text, p_channel text, p_peer text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.meant_approvals(p_tenant text, p_conversation text, p_inbound text, p_code text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.meant_approvals(p_tenant text, p_conversation text, p_inbound text, p_code text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.meet_stranger(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_name text, p_timezone text, p_code_hash bytea, p_outbound text, p_text text, p_now timestamp with time zone, p_expires timestamp with time zone, p_most_waiting integer, p_most_of_sender integer, p_most_of_account integer, p_new_tenant text, p_new_identity text, p_new_conversation text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.meet_stranger(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_name text, p_timezone text, p_code_hash bytea, p_outbound text, p_text text, p_now timestamp with time zone, p_expires timestamp with time zone, p_most_waiting integer, p_most_of_sender integer, p_most_of_account integer, p_new_tenant text, p_new_identity text, p_new_conversation text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.memory_unembedded(p_embedder text, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.memory_unembedded(p_embedder text, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.merge_people(p_kept text, p_gone text, p_turn text, p_code_hash bytea, p_rules jsonb, p_sealed jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.merge_people(p_kept text, p_gone text, p_turn text, p_code_hash bytea, p_rules jsonb, p_sealed jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.merge_values(p_kept text, p_gone text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.merge_values(p_kept text, p_gone text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.move_apart(p_tenant text, p_link text, p_turn text, p_rules jsonb, p_sealed jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.move_apart(p_tenant text, p_link text, p_turn text, p_rules jsonb, p_sealed jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.move_conversation(p_tenant text, p_conversation text, p_peer text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.move_conversation(p_tenant text, p_conversation text, p_peer text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.next_due_task() FROM PUBLIC;
GRANT ALL ON FUNCTION public.next_due_task() TO onevalet_app;

REVOKE ALL ON FUNCTION public.next_guess(p_scope text, p_most integer, p_window interval, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.next_guess(p_scope text, p_most integer, p_window interval, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_consent() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_consent() TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_link(p_kept text, p_gone text, p_link text, p_turn text, p_code_hash bytea, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_link(p_kept text, p_gone text, p_link text, p_turn text, p_code_hash bytea, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_link_asked(p_tenant text, p_code_hash bytea, p_channel text, p_account text, p_user_key text, p_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_link_asked(p_tenant text, p_code_hash bytea, p_channel text, p_account text, p_user_key text, p_by text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_link_of_stranger(p_tenant text, p_identity text, p_link text, p_other text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_link_of_stranger(p_tenant text, p_identity text, p_link text, p_other text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_notification() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_notification() TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_notification_undelivered() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_notification_undelivered() TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_origin(p_tenant text, p_inbound text, p_origin text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_origin(p_tenant text, p_inbound text, p_origin text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_received() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_received() TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_reply_to(p_tenant text, p_inbound text, p_reply_to text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_reply_to(p_tenant text, p_inbound text, p_reply_to text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_run(p_tenant text, p_turn text, p_state text, p_reason text, p_history jsonb, p_key text, p_text text, p_most_failures integer, p_disabled text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_run(p_tenant text, p_turn text, p_state text, p_reason text, p_history jsonb, p_key text, p_text text, p_most_failures integer, p_disabled text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_sender(p_channel text, p_account text, p_user_key text, p_name text, p_timezone text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_sender(p_channel text, p_account text, p_user_key text, p_name text, p_timezone text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_task_end() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_task_end() TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_undelivered() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_undelivered() TO onevalet_app;

REVOKE ALL ON FUNCTION public.note_worker(p_worker text, p_ahead double precision, p_failing jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_worker(p_worker text, p_ahead double precision, p_failing jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.open_conversation(p_tenant_id text, p_identity_id text, p_channel text, p_account text, p_peer text, p_thread text, p_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.open_conversation(p_tenant_id text, p_identity_id text, p_channel text, p_account text, p_peer text, p_thread text, p_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.other_conversation(p_tenant text, p_not_on text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.other_conversation(p_tenant text, p_not_on text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.outbound_let_go(p_tenant text, p_outbound text, p_fence bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.outbound_let_go(p_tenant text, p_outbound text, p_fence bigint) TO onevalet_app;

REVOKE ALL ON FUNCTION public.outbound_state(p_tenant text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.outbound_state(p_tenant text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.owe(p_tenant text, p_conversation text, p_turn text, p_outbound jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.owe(p_tenant text, p_conversation text, p_turn text, p_outbound jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.owe_digest(p_tenant text, p_ids text[], p_note jsonb, p_places jsonb, p_outbound text, p_new_conversation text, p_now timestamp with time zone, p_fall_back_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.owe_digest(p_tenant text, p_ids text[], p_note jsonb, p_places jsonb, p_outbound text, p_new_conversation text, p_now timestamp with time zone, p_fall_back_at timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.owe_memory() FROM PUBLIC;
GRANT ALL ON FUNCTION public.owe_memory() TO onevalet_app;

REVOKE ALL ON FUNCTION public.owe_notification(p_tenant text, p_id text, p_from text, p_places jsonb, p_outbound text, p_new_conversation text, p_now timestamp with time zone, p_fall_back_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.owe_notification(p_tenant text, p_id text, p_from text, p_places jsonb, p_outbound text, p_new_conversation text, p_now timestamp with time zone, p_fall_back_at timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.owe_profile() FROM PUBLIC;
GRANT ALL ON FUNCTION public.owe_profile() TO onevalet_app;

REVOKE ALL ON FUNCTION public.owe_unasked(p_tenant text, p_conversation text, p_message jsonb, p_history jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.owe_unasked(p_tenant text, p_conversation text, p_message jsonb, p_history jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.part_numbers(p_tenant text, p_other text, p_link text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.part_numbers(p_tenant text, p_other text, p_link text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.part_places(p_tenant text, p_other text, p_turn text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.part_places(p_tenant text, p_other text, p_turn text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.part_values(p_tenant text, p_other text, p_link text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.part_values(p_tenant text, p_other text, p_link text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.prefer_account(p_tenant text, p_service text, p_account text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prefer_account(p_tenant text, p_service text, p_account text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.probe_write() FROM PUBLIC;
GRANT ALL ON FUNCTION public.probe_write() TO onevalet_app;

REVOKE ALL ON FUNCTION public.process_of(p_owner text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.process_of(p_owner text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.process_quiet(p_process text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.process_quiet(p_process text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.prune_events(p_before timestamp with time zone, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_events(p_before timestamp with time zone, p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.prune_notifications(p_before timestamp with time zone, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_notifications(p_before timestamp with time zone, p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.prune_runs(p_kept interval, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_runs(p_kept interval, p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.prune_tasks(p_kept interval, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_tasks(p_kept interval, p_limit integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.publish_event(p_tenant text, p_source text, p_id text, p_also text, p_type text, p_data jsonb, p_occurred_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.publish_event(p_tenant text, p_source text, p_id text, p_also text, p_type text, p_data jsonb, p_occurred_at timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.publish_source_event(p_tenant text, p_source_id text, p_source text, p_id text, p_also text, p_type text, p_data jsonb, p_occurred_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.publish_source_event(p_tenant text, p_source_id text, p_source text, p_id text, p_also text, p_type text, p_data jsonb, p_occurred_at timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.put_off_look(p_tenant text, p_task text, p_begun integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.put_off_look(p_tenant text, p_task text, p_begun integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.put_off_outbound(p_tenant text, p_outbound text, p_fence bigint, p_delay interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.put_off_outbound(p_tenant text, p_outbound text, p_fence bigint, p_delay interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.put_value(p_tenant text, p_collection text, p_key text, p_value jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.put_value(p_tenant text, p_collection text, p_key text, p_value jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.rank_of(p_role text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.rank_of(p_role text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.read_credentials(p_tenant text, p_service text, p_account text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_credentials(p_tenant text, p_service text, p_account text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.read_data_key(p_tenant text, p_version integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_data_key(p_tenant text, p_version integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.read_person(p_tenant text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_person(p_tenant text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.read_profile(p_tenant text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_profile(p_tenant text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.read_profile_words(p_tenant text, p_turns text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_profile_words(p_tenant text, p_turns text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.read_values(p_tenant text, p_collection text, p_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_values(p_tenant text, p_collection text, p_key text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.receive_exact(p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_text text, p_provider_id text, p_sent_at timestamp with time zone, p_name text, p_timezone text, p_new_tenant text, p_new_identity text, p_new_conversation text, p_admit text, p_listed_only boolean, p_role text, p_verb text, p_code text, p_given text, p_fresh text, p_snooze interval, p_now timestamp with time zone, p_outbound text, p_say jsonb, p_draw jsonb, p_reply_to text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.receive_exact(p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_text text, p_provider_id text, p_sent_at timestamp with time zone, p_name text, p_timezone text, p_new_tenant text, p_new_identity text, p_new_conversation text, p_admit text, p_listed_only boolean, p_role text, p_verb text, p_code text, p_given text, p_fresh text, p_snooze interval, p_now timestamp with time zone, p_outbound text, p_say jsonb, p_draw jsonb, p_reply_to text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.receive_message(p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_text text, p_media jsonb, p_command jsonb, p_provider_id text, p_sent_at timestamp with time zone, p_name text, p_timezone text, p_new_tenant text, p_new_identity text, p_new_conversation text, p_admit text, p_listed_only boolean, p_role text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.receive_message(p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_text text, p_media jsonb, p_command jsonb, p_provider_id text, p_sent_at timestamp with time zone, p_name text, p_timezone text, p_new_tenant text, p_new_identity text, p_new_conversation text, p_admit text, p_listed_only boolean, p_role text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.receive_press(p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_provider_id text, p_new_conversation text, p_verb text, p_token text, p_entered jsonb, p_now timestamp with time zone, p_outbound text, p_say jsonb, p_draw jsonb, p_has_forms boolean, p_listed_only boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.receive_press(p_id text, p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_keys text[], p_provider_id text, p_new_conversation text, p_verb text, p_token text, p_entered jsonb, p_now timestamp with time zone, p_outbound text, p_say jsonb, p_draw jsonb, p_has_forms boolean, p_listed_only boolean) TO onevalet_app;

REVOKE ALL ON FUNCTION public.reconsider_held() FROM PUBLIC;
GRANT ALL ON FUNCTION public.reconsider_held() TO onevalet_app;

REVOKE ALL ON FUNCTION public.record_look(p_tenant text, p_task text, p_revision integer, p_watch jsonb, p_next timestamp with time zone, p_runs jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_look(p_tenant text, p_task text, p_revision integer, p_watch jsonb, p_next timestamp with time zone, p_runs jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.record_step(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_kind text, p_name text, p_args_hash text, p_effect text, p_state text, p_outcome text, p_idempotency_key text, p_result jsonb, p_usage jsonb, p_duration_ms integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_step(p_tenant text, p_lane text, p_fence bigint, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_kind text, p_name text, p_args_hash text, p_effect text, p_state text, p_outcome text, p_idempotency_key text, p_result jsonb, p_usage jsonb, p_duration_ms integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.redeem_pairing(p_id text, p_code_hash bytea, p_role text, p_tier text, p_now timestamp with time zone, p_most integer, p_window interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.redeem_pairing(p_id text, p_code_hash bytea, p_role text, p_tier text, p_now timestamp with time zone, p_most integer, p_window interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.refuse_overload(p_tenant text, p_inbound text, p_of_person integer, p_of_all integer, p_full text, p_busy text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.refuse_overload(p_tenant text, p_inbound text, p_of_person integer, p_of_all integer, p_full text, p_busy text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.reissue_approvals(p_tenant text, p_outcome text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.reissue_approvals(p_tenant text, p_outcome text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.release_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.release_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.release_outbound(p_tenant text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.release_outbound(p_tenant text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.release_poll(p_channel text, p_account text, p_owner text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.release_poll(p_channel text, p_account text, p_owner text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.release_stream() FROM PUBLIC;
GRANT ALL ON FUNCTION public.release_stream() TO onevalet_app;

REVOKE ALL ON FUNCTION public.remind_approval(p_tenant text, p_approval text, p_text text, p_outbound text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.remind_approval(p_tenant text, p_approval text, p_text text, p_outbound text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.renew_lane(p_tenant text, p_lane text, p_fence bigint, p_ttl interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.renew_lane(p_tenant text, p_lane text, p_fence bigint, p_ttl interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.reserve_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_day date, p_task text, p_amount numeric, p_cap numeric, p_held interval, p_task_cap numeric) FROM PUBLIC;
GRANT ALL ON FUNCTION public.reserve_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_day date, p_task text, p_amount numeric, p_cap numeric, p_held interval, p_task_cap numeric) TO onevalet_app;

REVOKE ALL ON FUNCTION public.retry_event(p_tenant text, p_source text, p_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.retry_event(p_tenant text, p_source text, p_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.retry_notices(p_tenant text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.retry_notices(p_tenant text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.rewrap_data_key(p_tenant text, p_version integer, p_from text, p_to text, p_wrapped bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.rewrap_data_key(p_tenant text, p_version integer, p_from text, p_to text, p_wrapped bytea) TO onevalet_app;

REVOKE ALL ON FUNCTION public.rezone_tasks() FROM PUBLIC;
GRANT ALL ON FUNCTION public.rezone_tasks() TO onevalet_app;

REVOKE ALL ON FUNCTION public.save_credentials(p_tenant text, p_service text, p_account text, p_key_version integer, p_sealed bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.save_credentials(p_tenant text, p_service text, p_account text, p_key_version integer, p_sealed bytea) TO onevalet_app;

REVOKE ALL ON FUNCTION public.say_more(p_tenant text, p_conversation text, p_turn text, p_outbound text, p_within interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.say_more(p_tenant text, p_conversation text, p_turn text, p_outbound text, p_within interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.say_once(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_reason text, p_text text, p_outbound text, p_new_conversation text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.say_once(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_reason text, p_text text, p_outbound text, p_new_conversation text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.says_any(p_text text, p_phrases text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.says_any(p_text text, p_phrases text[]) TO onevalet_app;

REVOKE ALL ON FUNCTION public.scrub_numbers(p_now timestamp with time zone, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.scrub_numbers(p_now timestamp with time zone, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.seed_person(p_tenant text, p_identities jsonb, p_ids text[], p_name text, p_timezone text, p_role text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.seed_person(p_tenant text, p_identities jsonb, p_ids text[], p_name text, p_timezone text, p_role text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.set_aside_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_aside_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.set_aside_redraw(p_tenant text, p_outbound text, p_fence bigint, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_aside_redraw(p_tenant text, p_outbound text, p_fence bigint, p_reason text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.set_tenant(p_tenant text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_tenant(p_tenant text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.settle_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_day date, p_task text, p_cost numeric) FROM PUBLIC;
GRANT ALL ON FUNCTION public.settle_money(p_tenant text, p_turn text, p_agent_path text, p_step integer, p_call_index integer, p_day date, p_task text, p_cost numeric) TO onevalet_app;

REVOKE ALL ON FUNCTION public.settle_outbound(p_tenant text, p_outbound text, p_fence bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.settle_outbound(p_tenant text, p_outbound text, p_fence bigint) TO onevalet_app;

REVOKE ALL ON FUNCTION public.show_elsewhere(p_tenant text, p_approval text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.show_elsewhere(p_tenant text, p_approval text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.snooze_approval(p_tenant text, p_approval text, p_snooze interval, p_identity text, p_channel text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.snooze_approval(p_tenant text, p_approval text, p_snooze interval, p_identity text, p_channel text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.start_approval(p_tenant text, p_approval text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.start_approval(p_tenant text, p_approval text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.start_run(p_tenant text, p_task text, p_run jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.start_run(p_tenant text, p_task text, p_run jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.start_runs(p_tenant text, p_runs jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.start_runs(p_tenant text, p_runs jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.steps_done(p_tenant text, p_turn text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.steps_done(p_tenant text, p_turn text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.stream_leads(p_tenant text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.stream_leads(p_tenant text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.stream_overtaken(p_tenant text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.stream_overtaken(p_tenant text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.suspect_alone(p_deaths integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.suspect_alone(p_deaths integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.suspect_begun(p_process text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.suspect_begun(p_process text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.suspect_quiet() FROM PUBLIC;
GRANT ALL ON FUNCTION public.suspect_quiet() TO onevalet_app;

REVOKE ALL ON FUNCTION public.suspect_waits(p_most integer, p_from interval, p_to interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.suspect_waits(p_most integer, p_from interval, p_to interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.sweep_cards(p_now timestamp with time zone, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.sweep_cards(p_now timestamp with time zone, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.take_exact(p_tenant text, p_approval text, p_verb text, p_identity text, p_channel text, p_given text, p_fresh text, p_snooze interval, p_now timestamp with time zone, p_draw jsonb, OUT outcome text, OUT lane_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.take_exact(p_tenant text, p_approval text, p_verb text, p_identity text, p_channel text, p_given text, p_fresh text, p_snooze interval, p_now timestamp with time zone, p_draw jsonb, OUT outcome text, OUT lane_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.take_press(p_tenant text, p_approval text, p_identity text, p_channel text, p_verb text, p_entered jsonb, p_now timestamp with time zone, p_draw jsonb, p_has_forms boolean, OUT outcome text, OUT lane_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.take_press(p_tenant text, p_approval text, p_identity text, p_channel text, p_verb text, p_entered jsonb, p_now timestamp with time zone, p_draw jsonb, p_has_forms boolean, OUT outcome text, OUT lane_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.take_segments_of_all(p_day date, p_segments integer, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.take_segments_of_all(p_day date, p_segments integer, p_most integer) TO onevalet_app;

REVOKE ALL ON FUNCTION public.tell_elsewhere() FROM PUBLIC;
GRANT ALL ON FUNCTION public.tell_elsewhere() TO onevalet_app;

REVOKE ALL ON FUNCTION public.tell_of_card() FROM PUBLIC;
GRANT ALL ON FUNCTION public.tell_of_card() TO onevalet_app;

REVOKE ALL ON FUNCTION public.tell_outcome(p_tenant text, p_approval text, p_text text, p_confirm text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tell_outcome(p_tenant text, p_approval text, p_text text, p_confirm text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.tell_places(p_tenant text, p_identities text[], p_text text, p_outbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tell_places(p_tenant text, p_identities text[], p_text text, p_outbound text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.tell_stranger(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_name text, p_timezone text, p_outbound text, p_text text, p_new_tenant text, p_new_identity text, p_new_conversation text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tell_stranger(p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_name text, p_timezone text, p_outbound text, p_text text, p_new_tenant text, p_new_identity text, p_new_conversation text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.tidy_memory(p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tidy_memory(p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.told_time(p_tenant text, p_moment timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.told_time(p_tenant text, p_moment timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.try_link_code(p_code_hash bytea, p_scope text, p_channel text, p_account text, p_user_key text, p_by text, p_now timestamp with time zone, p_most_of_sender integer, p_window interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.try_link_code(p_code_hash bytea, p_scope text, p_channel text, p_account text, p_user_key text, p_by text, p_now timestamp with time zone, p_most_of_sender integer, p_window interval) TO onevalet_app;

REVOKE ALL ON FUNCTION public.turn_took_effect(p_tenant text, p_turn text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.turn_took_effect(p_tenant text, p_turn text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.undo_fact(p_tenant text, p_number bigint, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.undo_fact(p_tenant text, p_number bigint, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.unknown_blocks() FROM PUBLIC;
GRANT ALL ON FUNCTION public.unknown_blocks() TO onevalet_app;

REVOKE ALL ON FUNCTION public.unlink_identity(p_tenant text, p_turn text, p_new_tenant text, p_new_identity text, p_new_conversation text, p_outbound text, p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.unlink_identity(p_tenant text, p_turn text, p_new_tenant text, p_new_identity text, p_new_conversation text, p_outbound text, p_text text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.wake_turn(p_tenant text, p_turn text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.wake_turn(p_tenant text, p_turn text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.wants_channel_event(p_tenant text, p_channel text, p_type text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.wants_channel_event(p_tenant text, p_channel text, p_type text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.wants_channel_events(p_tenant text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.wants_channel_events(p_tenant text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.was_received(p_channel text, p_account text, p_keys text[], p_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.was_received(p_channel text, p_account text, p_keys text[], p_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.why_decided(p_tenant text, p_approval text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.why_decided(p_tenant text, p_approval text, p_now timestamp with time zone) TO onevalet_app;

REVOKE ALL ON FUNCTION public.withdraw_notification(p_tenant text, p_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.withdraw_notification(p_tenant text, p_id text) TO onevalet_app;

REVOKE ALL ON FUNCTION public.write_approval(p_tenant text, p_conversation text, p_turn text, p_approval jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.write_approval(p_tenant text, p_conversation text, p_turn text, p_approval jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.write_pool(p_tenant text, p_turn text, p_conversation text, p_pool jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.write_pool(p_tenant text, p_turn text, p_conversation text, p_pool jsonb) TO onevalet_app;

REVOKE ALL ON FUNCTION public.wrong_codes(p_tenant text, p_conversation text, p_inbound text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.wrong_codes(p_tenant text, p_conversation text, p_inbound text) TO onevalet_app;

GRANT SELECT,INSERT ON TABLE public.approval_audit TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approval_cards TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approval_codes TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals TO onevalet_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.channel_state TO onevalet_app;

GRANT INSERT ON TABLE public.consents TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.conversations TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.credentials TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.data_keys TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.deliveries TO onevalet_app;

GRANT SELECT ON TABLE public.event_groups TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.event_sources TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.event_work TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.events TO onevalet_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.guesses TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.history TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.identities TO onevalet_app;

GRANT SELECT,INSERT ON TABLE public.ignored_messages TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbound TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_keys TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.lanes TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.link_codes TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.linked_rows TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memories TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_forgettings TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_jobs TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_members TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_messages TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_recalls TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_sessions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_terms TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_vectors TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_versions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notifications TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.outbound TO onevalet_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.pairings TO onevalet_app;

GRANT SELECT,INSERT ON TABLE public.person_audit TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pool_entries TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.profile_facts TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.profile_jobs TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.redraws TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reservations TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.run_notices TO onevalet_app;

GRANT SELECT ON TABLE public.schema_migrations TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.segment_days TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.segments_of_all TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spending TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.steps TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.stored_collections TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.stored_values TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.task_runs TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tasks TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.turns TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.worker_health TO onevalet_app;

ALTER DEFAULT PRIVILEGES FOR ROLE onevalet REVOKE ALL ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE onevalet GRANT ALL ON FUNCTIONS TO onevalet_app;
