-- Other programs of a person's: the tokens by which they ask.

-- Stores a token under the next number, with the identity of its program. `made` is false for an id that is stored
-- already, and where the person has p_most that are good, which have no `number`.
create function keep_client_token(
    p_tenant text, p_id text, p_identity text, p_name text, p_token_hash bytea, p_now timestamptz,
    p_expires_at timestamptz, p_most int, out number bigint, out made boolean)
language plpgsql as $$
begin
    made := false;
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from tenants t where t.tenant_id = p_tenant for update;
    number := (select k.number from client_tokens k where k.tenant_id = p_tenant and k.id = p_id);
    if number is not null or (select count(*) from client_tokens k where k.tenant_id = p_tenant and k.revoked_at is null
        and k.expires_at > p_now) >= p_most then
        return;
    end if;
    number := coalesce((select max(k.number) from client_tokens k where k.tenant_id = p_tenant), 0) + 1;
    insert into client_tokens (tenant_id, id, number, name, token_hash, made_at, expires_at)
    values (p_tenant, p_id, number, p_name, p_token_hash, p_now, p_expires_at);
    insert into identities (tenant_id, id, channel, account, user_key, name, admitted)
    values (p_tenant, p_identity, 'mcp', 'local', p_id, p_name, 'link');
    insert into person_audit (tenant_id, what, channel, account, identity_id)
    values (p_tenant, 'token', 'mcp', 'local', p_identity);
    made := true;
end $$;

-- Finds whose a token is, by its hash under any of the secret keys; ids only.
create function find_client_token(p_hashes bytea[])
returns table (tenant_id text, token_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select k.tenant_id, k.id from client_tokens k where k.token_hash = any (p_hashes)
$$;

-- Revokes a token by its number; returns its name, null where no good token has it. What its program has asked and
-- nobody has begun to answer is answered no more.
create function revoke_client_token(p_tenant text, p_number bigint, p_now timestamptz)
returns text
language plpgsql as $$
declare
    v_token client_tokens%rowtype;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update client_tokens k set revoked_at = p_now
    where k.tenant_id = p_tenant and k.number = p_number and k.revoked_at is null and k.expires_at > p_now
    returning * into v_token;
    if v_token.id is null then
        return null;
    end if;
    update inbound i set state = 'ignored', reason = 'revoked' from conversations c
    where i.tenant_id = p_tenant and c.tenant_id = p_tenant and c.id = i.conversation_id and c.channel = 'mcp'
      and c.peer = v_token.id and i.state = 'waiting';
    insert into person_audit (tenant_id, what, channel, account, identity_id)
    select p_tenant, 'revoked', 'mcp', 'local', i.id from identities i
    where i.tenant_id = p_tenant and i.channel = 'mcp' and i.user_key = v_token.id;
    return v_token.name;
end $$;

-- Returns how a program's message stands: the state of its message and of its turn, and what was said in that turn where
-- all of it was sent. Cards are the person's alone, and `asks` counts the questions that the program is to answer.
-- A message that only answered what waits stands as the turns do that go on with it: with what they have said since.
create function client_answer(p_tenant text, p_client text, p_inbound text)
returns table (message_state text, message_reason text, turn_state text, turn_ready boolean, turn_reason text,
               unsent bigint, said text[], cards bigint, asks bigint)
language plpgsql stable as $$
declare
    v_message record;
    v_turns text[];
    v_since timestamptz := '-infinity';
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    select i.state, i.reason, i.received_at, i.conversation_id, t.id as turn_id, t.reason as turn_reason
    into v_message
    from inbound i
    join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id and c.channel = 'mcp'
        and c.peer = p_client
    left join turns t on t.tenant_id = i.tenant_id and t.id = i.turn_id
    where i.tenant_id = p_tenant and i.id = p_inbound;
    if not found then
        return;
    end if;
    v_turns := array[v_message.turn_id];
    if v_message.turn_reason like 'answer to %' then
        v_turns := v_turns || string_to_array(substr(v_message.turn_reason, length('answer to ') + 1), ', ');
        v_since := v_message.received_at;
    end if;
    return query
    select v_message.state, v_message.reason, w.state, w.ready, w.reason,
           (select count(*) from outbound o where o.tenant_id = p_tenant and o.conversation_id = v_message.conversation_id
              and o.turn_id = any (v_turns) and o.kind = 'reply' and o.state in ('ready', 'sending', 'checking')),
           array(select p.text from outbound o join outbound_parts p on p.tenant_id = o.tenant_id and p.outbound_id = o.id
                 where o.tenant_id = p_tenant and o.conversation_id = v_message.conversation_id
                   and o.turn_id = any (v_turns) and o.created_at > v_since and o.kind = 'reply' and p.state = 'sent'
                 order by o.seq, p.part),
           (select count(*) from approvals a
            where a.tenant_id = p_tenant and a.turn_id = any (v_turns) and a.state = 'pending'),
           (select coalesce(sum(greatest(jsonb_array_length(e.context -> 'asked'), 1)), 0)::bigint from pool_entries e
            where e.tenant_id = p_tenant and e.turn_id = any (v_turns) and e.status = 'WAITING_FOR_INPUT'
              and e.context ->> 'question' is not null)
    from (select) one
    left join lateral (
        select t.state, t.ready, t.reason from turns t where t.tenant_id = p_tenant and t.id = any (v_turns)
        -- The one that is furthest from its end, and of those that have ended the one that went on.
        order by case when t.state = 'running' or t.state = 'waiting' and t.ready then 0 when t.state = 'waiting' then 1
                      when t.id <> v_message.turn_id then 2 else 3 end limit 1) w on true;
end $$;

-- Deletes tokens that ended before a time, p_limit at most; returns how many.
create function prune_client_tokens(p_before timestamptz, p_limit int)
returns int
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    v_pruned int;
begin
    delete from client_tokens k using (
        select o.tenant_id, o.id from client_tokens o where least(o.expires_at, o.revoked_at) < p_before limit p_limit) old
    where k.tenant_id = old.tenant_id and k.id = old.id;
    get diagnostics v_pruned = row_count;
    return v_pruned;
end $$;
