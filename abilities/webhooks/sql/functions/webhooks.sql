-- Webhooks out: what happened is enqueued by triggers, in the transaction in which it did, and sent by workers.

-- Enqueues what happened for each endpoint that is subscribed to its kind. p_subject: what it happened to, of which a
-- kind is told once.
create function note_for_webhooks(p_tenant text, p_kind text, p_subject text, p_data jsonb)
returns void
language plpgsql as $$
begin
    insert into webhook_messages (tenant_id, id, endpoint_id, kind, data)
    select p_tenant, 'msg_' || left(encode(sha256(convert_to(
               concat_ws(chr(31), e.id, p_kind, p_tenant, p_subject), 'UTF8')), 'hex'), 32),
           e.id, p_kind, jsonb_build_object('person', p_tenant) || p_data
    from webhook_endpoints e where e.active and p_kind = any (e.kinds)
    on conflict do nothing;
end $$;

-- Tells of a changed row: ids and states only, never a text.
create or replace function note_row_for_webhooks()
returns trigger
language plpgsql as $$
begin
    case tg_table_name
    when 'turns' then
        perform note_for_webhooks(
            new.tenant_id, case new.state when 'done' then 'turn.done' else 'turn.failed' end, new.id,
            jsonb_build_object('turn', new.id, 'state', new.state));
    when 'steps' then
        perform note_for_webhooks(
            new.tenant_id, 'effect.done', concat_ws('/', new.turn_id, new.agent_path, new.step, new.call_index),
            jsonb_build_object('turn', new.turn_id, 'tool', new.name, 'effect', new.effect));
    when 'approvals' then
        perform note_for_webhooks(
            new.tenant_id, 'approval.decided', new.id,
            jsonb_build_object('approval', new.id, 'turn', new.turn_id, 'tool', new.name, 'state', new.state));
    when 'outbound' then
        perform note_for_webhooks(
            new.tenant_id, 'delivery.failed', new.id,
            jsonb_build_object('message', new.id, 'turn', new.turn_id, 'kind', new.kind,
                               'conversation', new.conversation_id));
    end case;
    return null;
end $$;

create or replace trigger turn_for_webhooks after update of state on turns for each row
    when (old.state is distinct from new.state and new.state in ('done', 'failed', 'poison'))
    execute function note_row_for_webhooks();

-- What had no effect, an agent stores as started too if it waited inside. A run that ends with a question goes on.
create or replace trigger effect_for_webhooks after update of state on steps for each row
    when (old.state = 'started' and new.state = 'done' and new.outcome = 'ok' and new.effect <> 'read'
          and coalesce(new.result ->> 'status', '') not in ('WAITING_FOR_INPUT', 'WAITING_FOR_APPROVAL', 'PAUSED'))
    execute function note_row_for_webhooks();

create or replace trigger decision_for_webhooks after update of state on approvals for each row
    when (old.state = 'pending' and new.state <> 'pending')
    execute function note_row_for_webhooks();

-- What was withdrawn to go elsewhere has not failed.
create or replace trigger failure_for_webhooks after update of state on outbound for each row
    when (old.state is distinct from new.state and new.state = 'failed' and new.reason <> 'it went elsewhere')
    execute function note_row_for_webhooks();

-- Claims the named message, or the one that is due longest, whose endpoint is not being spared; ids only. Repeatable by
-- owner.
create function claim_webhook(p_id text, p_owner text, p_lease interval)
returns table (tenant_id text, id text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_id text;
begin
    return query select m.tenant_id, m.id from webhook_messages m
    where m.owner = p_owner and m.lease_until > clock_timestamp();
    if found or is_halted() then
        return;
    end if;
    -- Each way has a statement and so a plan of its own, which is kept.
    if p_id is null then
        select m.tenant_id, m.id into v_tenant, v_id from webhook_messages m
        join webhook_endpoints e on e.id = m.endpoint_id
        where m.state = 'waiting' and m.next_attempt_at <= clock_timestamp()
          and (m.lease_until is null or m.lease_until < clock_timestamp())
          and e.active and e.retry_at <= clock_timestamp()
        order by m.next_attempt_at limit 1 for no key update of m skip locked;
    else
        select m.tenant_id, m.id into v_tenant, v_id from webhook_messages m
        join webhook_endpoints e on e.id = m.endpoint_id
        where m.id = p_id and m.state = 'waiting' and m.next_attempt_at <= clock_timestamp()
          and (m.lease_until is null or m.lease_until < clock_timestamp())
          and e.active and e.retry_at <= clock_timestamp()
        limit 1 for no key update of m skip locked;
    end if;
    return query update webhook_messages m
    set owner = p_owner, lease_until = clock_timestamp() + p_lease, attempts = m.attempts + 1
    where m.tenant_id = v_tenant and m.id = v_id
    returning m.tenant_id, m.id;
end $$;

-- Returns a claimed message with its endpoint; none if it was claimed by another owner since.
create function read_webhook(p_tenant text, p_id text, p_owner text)
returns table (
    kind text, data jsonb, at timestamptz, attempts int, age interval, endpoint_id text, url text, generation int,
    rotated_at timestamptz)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query
    select m.kind, m.data, m.at, m.attempts, clock_timestamp() - since_halt(m.at), e.id, e.url, e.generation, e.rotated_at
    from webhook_messages m join webhook_endpoints e on e.id = m.endpoint_id
    where m.tenant_id = p_tenant and m.id = p_id and m.owner = p_owner and m.state = 'waiting';
end $$;

-- Records the outcome of a call: 'sent', 'again' after p_delay, 'failed' (given up), or 'gone': the endpoint wants
-- nothing any more. Disables an endpoint that is gone, or of whose messages p_most in a row were given up. Repeating it
-- changes nothing.
create function end_webhook(
    p_tenant text, p_id text, p_owner text, p_outcome text, p_status int, p_reason text, p_delay interval, p_most int)
returns void
language plpgsql as $$
declare
    v_endpoint text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update webhook_messages m
    set state = case p_outcome when 'sent' then 'sent' when 'again' then 'waiting' else 'failed' end, status = p_status,
        reason = p_reason, owner = null, lease_until = null, next_attempt_at = clock_timestamp() + p_delay,
        finished_at = case when p_outcome <> 'again' then clock_timestamp() end
    where m.tenant_id = p_tenant and m.id = p_id and m.owner = p_owner and m.state = 'waiting'
    returning m.endpoint_id into v_endpoint;
    if p_outcome = 'sent' then
        update webhook_endpoints e set failures = 0, given_up = 0
        where e.id = v_endpoint and (e.failures > 0 or e.given_up > 0);
        return;
    end if;
    update webhook_endpoints e
    set failures = e.failures + 1, given_up = e.given_up + (p_outcome = 'failed')::int,
        retry_at = greatest(e.retry_at, clock_timestamp() + least(p_delay, interval '5 minutes')),
        active = e.active and p_outcome <> 'gone' and e.given_up + (p_outcome = 'failed')::int < p_most,
        reason = case when e.active and (p_outcome = 'gone' or e.given_up + (p_outcome = 'failed')::int >= p_most)
                      then p_reason else e.reason end
    where e.id = v_endpoint;
end $$;

-- Deletes what was told, or given up, or waited for an endpoint that is disabled, before a moment. Materialized: see
-- claim_next_event.
create function prune_webhooks(p_before timestamptz, p_limit int)
returns table (pruned bigint)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with old as materialized (
        select o.tenant_id, o.id from webhook_messages o where o.at < p_before and o.owner is null
        order by o.at limit p_limit for update skip locked),
    gone as (
        delete from webhook_messages m using old o where m.tenant_id = o.tenant_id and m.id = o.id returning 1)
    select count(*) from gone
$$;

-- Deletes an endpoint with all that it was told or is still to be told.
create function delete_webhook_endpoint(p_id text)
returns void
language sql security definer set search_path = public, pg_temp as $$
    delete from webhook_messages m where m.endpoint_id = p_id;
    delete from webhook_endpoints e where e.id = p_id
$$;

-- Lists the newest messages of everybody, for operators; ids only.
create function console_webhooks(p_limit int)
returns table (tenant_id text, id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select m.tenant_id, m.id from webhook_messages m order by m.at desc, m.id limit p_limit
$$;

-- Counts the messages that wait for each endpoint.
create function count_webhooks()
returns table (endpoint_id text, waiting bigint, failed bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select m.endpoint_id, count(*) filter (where m.state = 'waiting'), count(*) filter (where m.state = 'failed')
    from webhook_messages m group by m.endpoint_id
$$;
