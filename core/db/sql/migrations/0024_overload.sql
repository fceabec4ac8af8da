-- Overload and death: nobody has all workers to themselves, and what a dead worker held is free at once.

drop function claim_lane(text, text, interval);

-- Takes the named lane, or the one that waits longest, of somebody for whom fewer than p_most lanes run: one
-- person with many threads and tasks may not keep all others waiting. Two claims at once may exceed it by one.
create function claim_lane(p_lane text, p_owner text, p_ttl interval, p_most integer)
returns table (tenant_id text, lane_id text, fence bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_tenant text;
    v_lane text;
begin
    return query select l.tenant_id, l.id, l.fence from lanes l
    where l.owner = p_owner and l.lease_until > clock_timestamp();
    if found then
        return;
    end if;
    select l.tenant_id, l.id into v_tenant, v_lane from lanes l
    where l.pending and (p_lane is null or l.id = p_lane)
      and (l.lease_until is null or l.lease_until < clock_timestamp())
      and (l.not_before is null or l.not_before <= clock_timestamp())
      and (select count(*) from lanes o where o.tenant_id = l.tenant_id and o.lease_until > clock_timestamp()) < p_most
    order by l.pending_since limit 1 for update skip locked;
    if v_lane is null then
        return;
    end if;
    return query update lanes l
    set owner = p_owner, lease_until = clock_timestamp() + p_ttl, fence = l.fence + 1
    where l.tenant_id = v_tenant and l.id = v_lane
    returning l.tenant_id, l.id, l.fence;
end $$;

-- What a worker held that is known to be dead is free for the next claim; its attempts count as ever.
create function end_leases(p_worker text)
returns void
language sql security definer set search_path = public, pg_temp as $$
    update lanes set lease_until = clock_timestamp()
    where lease_until > clock_timestamp() and starts_with(owner, p_worker || '/');
    update outbound set lease_until = clock_timestamp()
    where lease_until > clock_timestamp() and starts_with(owner, p_worker || '/');
    update channel_state set sweep_until = clock_timestamp()
    where sweep_until > clock_timestamp() and sweep_owner = p_worker;
$$;

revoke all on function claim_lane(text, text, interval, integer), end_leases(text) from public;
grant execute on function claim_lane(text, text, interval, integer), end_leases(text) to onevalet_app;
