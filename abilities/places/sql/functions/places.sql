-- Places of people: kept as they come, offered a timezone once, deleted after a day.

-- Keeps the place that a message brings, or another place of a message that is updated. Of two the later counts. What
-- its person had forgotten stays so, however long its message is updated.
create function note_place(p_tenant text, p_arrival jsonb)
returns void
language plpgsql as $$
declare
    v_place jsonb := p_arrival -> 'brings' -> 'place';
    v_live timestamptz := (v_place ->> 'live_until')::timestamptz;
    v_at timestamptz := coalesce((p_arrival ->> 'sent_at')::timestamptz, clock_timestamp());
begin
    insert into seen_places as p
        (tenant_id, id, inbound_id, how, latitude, longitude, accuracy, name, address, at, live_until)
    values (p_tenant,
            concat_ws('/', p_arrival ->> 'channel', p_arrival ->> 'account', p_arrival ->> 'peer',
                      p_arrival ->> 'provider_id'),
            p_arrival ->> 'id',
            case when v_live is not null then 'live' when v_place ->> 'name' <> '' then 'named' else 'sent' end,
            (v_place ->> 'latitude')::float8, (v_place ->> 'longitude')::float8, (v_place ->> 'accuracy')::float8,
            v_place ->> 'name', v_place ->> 'address', v_at, v_live)
    on conflict on constraint seen_places_pkey do update
    set latitude = case when p.latitude is not null then excluded.latitude end,
        longitude = case when p.latitude is not null then excluded.longitude end,
        accuracy = case when p.latitude is not null then excluded.accuracy end,
        at = excluded.at,
        -- The last update says that it is shared no longer.
        live_until = coalesce(excluded.live_until, case when p.live_until is not null then excluded.at end),
        inbound_id = coalesce(p.inbound_id, excluded.inbound_id),
        noted_at = excluded.noted_at,
        looked_at = case when p.looked_at > clock_timestamp() - interval '1 hour' then p.looked_at end
    where excluded.at >= p.at;
end $$;

-- Stores a new link; false where the person was given too many since p_since. Links that nobody can use any more go.
create function keep_place_link(
    p_tenant text, p_token_hash bytea, p_conversation text, p_now timestamptz, p_expires_at timestamptz,
    p_since timestamptz, p_limit int)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    if exists (select from place_links l where l.tenant_id = p_tenant and l.token_hash = p_token_hash) then
        return true;
    end if;
    delete from place_links l where l.tenant_id = p_tenant and l.made_at < p_since;
    if (select count(*) from place_links l where l.tenant_id = p_tenant) >= p_limit then
        return false;
    end if;
    insert into place_links (tenant_id, token_hash, conversation_id, made_at, expires_at)
    values (p_tenant, p_token_hash, p_conversation, p_now, p_expires_at);
    return true;
end $$;

-- Finds whose a link is; ids only.
create function find_place_link(p_token_hash bytea)
returns table (tenant_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select l.tenant_id from place_links l where l.token_hash = p_token_hash
$$;

-- Ends a link by the place that a phone told, and queues what the chat is told; false where it was over. A repeat of
-- the same place, whose answer was lost, is told what the first was.
create function take_linked_place(
    p_tenant text, p_token_hash bytea, p_place jsonb, p_message jsonb, p_now timestamptz, out taken boolean,
    out conversation_id text)
language plpgsql as $$
declare
    v_id text := 'link/' || encode(p_token_hash, 'hex');
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select l.conversation_id into conversation_id from place_links l
    where l.tenant_id = p_tenant and l.token_hash = p_token_hash;
    perform lock_person(p_tenant, false);
    -- Before the lanes that wake.
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = conversation_id for no key update;
    update place_links l set used_at = p_now
    where l.tenant_id = p_tenant and l.token_hash = p_token_hash and l.used_at is null and l.expires_at > p_now;
    if not found then
        taken := exists (select from seen_places s where s.tenant_id = p_tenant and s.id = v_id
                         and s.latitude = (p_place ->> 'latitude')::float8
                         and s.longitude = (p_place ->> 'longitude')::float8);
        return;
    end if;
    insert into seen_places (tenant_id, id, how, latitude, longitude, accuracy, at)
    values (p_tenant, v_id, 'link', (p_place ->> 'latitude')::float8, (p_place ->> 'longitude')::float8,
            (p_place ->> 'accuracy')::float8, p_now);
    if exists (select from conversations c where c.tenant_id = p_tenant and c.id = conversation_id) then
        perform enqueue(p_tenant, conversation_id, null, p_message);
    end if;
    taken := true;
end $$;

-- Deletes where a person was, and returns how many places that were, and how many of them are still shared. Of one that
-- ever moved a row without a place stays for a day, so that no update brings anything back, however late.
create function forget_places(p_tenant text, p_now timestamptz, out gone int, out shared int)
language plpgsql as $$
declare
    v_still int;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select count(*) into shared from seen_places s
    where s.tenant_id = p_tenant and s.live_until > p_now and s.latitude is not null;
    update seen_places s
    set latitude = null, longitude = null, accuracy = null, name = '', address = ''
    where s.tenant_id = p_tenant and s.live_until is not null and s.latitude is not null;
    get diagnostics gone = row_count;
    delete from seen_places s where s.tenant_id = p_tenant and s.live_until is null and s.latitude is not null;
    get diagnostics v_still = row_count;
    gone := gone + v_still;
end $$;

-- Claims places whose timezone nobody has compared yet; ids only. Each comes again after a pause that grows.
create function claim_new_places(p_limit int)
returns table (tenant_id text, id text)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with due as materialized (
        select d.tenant_id, d.id, d.next_attempt_at as due_at from seen_places d
        where not is_halted() and d.looked_at is null and d.latitude is not null
          and d.next_attempt_at <= clock_timestamp()
        order by d.next_attempt_at limit p_limit for update skip locked),
    claimed as (
        update seen_places s
        set attempts = s.attempts + 1, next_attempt_at = clock_timestamp() + pause_after(s.attempts)
        from due where s.tenant_id = due.tenant_id and s.id = due.id
        returning s.tenant_id, s.id, due.due_at)
    select c.tenant_id, c.id from claimed c order by c.due_at
$$;

-- Deletes places from before a time, the oldest first, and rows of forgotten ones that were shared no longer then.
create function prune_places(p_before timestamptz, p_limit int)
returns int
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with old as materialized (
        select o.tenant_id, o.id from seen_places o
        where o.at < p_before and (o.latitude is not null or coalesce(o.live_until, o.at) < p_before)
        order by o.at limit p_limit for update skip locked),
    gone as (
        delete from seen_places s using old o where s.tenant_id = o.tenant_id and s.id = o.id returning 1)
    select count(*)::int from gone
$$;
