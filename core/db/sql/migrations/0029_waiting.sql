-- A bound on what waits: past it a message is kept, with the reason why nobody answers it, and its person is told.

alter table tenants add column told_full_at timestamptz;

-- How many messages wait, of all people together; one more than p_most stands for more.
create function count_waiting(p_most int)
returns int
language sql stable security definer set search_path = public, pg_temp as $$
    select count(*)::int from (select 1 from inbound i where i.state = 'waiting' limit p_most + 1) w
$$;

-- Refuses a message that was just taken in where more wait than may, of its person or of all. Null: it waits; else it
-- was refused, and what is said about it, once in ten minutes, is owed to the conversation that is given ('': to none).
create function refuse_overload(
    p_tenant text, p_inbound text, p_of_person int, p_of_all int, p_full text, p_busy text, p_outbound text)
returns text
language plpgsql as $$
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

-- Sends whose answer was lost, and what was found out about each; numbers only, over all tenants, for operators.
-- "told": a callback said that it arrived; "resent": not found, or sent again by the channel's policy.
create function count_lost_answers(p_within interval)
returns table (lost bigint, found bigint, told bigint, resent bigint, left_alone bigint, still_open bigint)
language sql stable security definer set search_path = public, pg_temp as $$
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
create index deliveries_lost on deliveries (finished_at) where outcome in ('ambiguous', 'found', 'left');

do $$
declare
    f text;
begin
    foreach f in array array[
        'count_waiting(integer)', 'count_lost_answers(interval)', 'refuse_overload(text, text, integer, integer, text, text, text)'] loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
