-- Finding one's way from any id to the tenant whose rows tell its path.

create function find_trace(p_id text)
returns table (tenant_id text, turn_id text, inbound_id text, outbound_id text)
language sql stable security definer set search_path = public, pg_temp as $$
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
create index inbound_id on inbound (id);
create index turns_id on turns (id);
create index outbound_id on outbound (id);
create index inbound_provider on inbound (provider_id) where provider_id <> '';

-- Counts for doctor and readiness; numbers only, over all tenants.
create function count_work()
returns table (waiting_messages bigint, running_turns bigint, open_outbound bigint, ambiguous bigint,
               failed bigint, poison bigint, oldest_waiting timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select (select count(*) from inbound where state = 'waiting'),
           (select count(*) from turns where state = 'running'),
           (select count(*) from outbound where state in ('ready', 'sending', 'checking')),
           (select count(*) from outbound where state = 'ambiguous'),
           (select count(*) from outbound where state = 'failed'),
           (select count(*) from turns where state = 'poison'),
           (select min(received_at) from inbound where state = 'waiting')
$$;
