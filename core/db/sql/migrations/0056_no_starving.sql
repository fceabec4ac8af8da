-- Those who failed lately are left out of what is limited to some rows, so that many of them do not starve the rest.

-- As in 0022, but without the people of p_without.
create function find_held(p_now timestamptz, p_limit int, p_without text[])
returns table (tenant_id text, held bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select n.tenant_id, count(*) from notifications n
    where n.state = 'held' and n.not_before <= p_now and n.tenant_id <> all (p_without)
    group by n.tenant_id order by min(n.not_before) limit p_limit
$$;

-- As in 0022, but without the notifications of p_without, and without what cannot be taken back since some of it is out.
create function find_undelivered(p_now timestamptz, p_stuck interval, p_limit int, p_without text[])
returns table (tenant_id text, notification_id text)
language sql stable security definer set search_path = public, pg_temp as $$
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

do $$
declare
    f text;
begin
    foreach f in array array['find_held(timestamptz, integer, text[])',
                             'find_undelivered(timestamptz, interval, integer, text[])'] loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
