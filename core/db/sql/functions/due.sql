-- What is due, for all kinds of a worker's work at once: in how many seconds, zero or less now, no row where nothing
-- waits. It may name what cannot be had yet, as another worker holds it, and never leaves out what can: those who claim
-- decide. p_now is people's time, null while that is not known; leases and attempts are by the database's.
-- Planning costs twenty times what the answer does, and no plan depends on the moment: each connection makes one.
create function what_is_due(p_now timestamptz)
returns table (work text, wait double precision)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
    select d.work, extract(epoch from min(d.at) - clock_timestamp())::float8 from (
        -- First whether there is any, which ends at the first row; when the next is due reads those that wait.
        select 'turns' as work, case
            when exists (select from lanes l where l.pending and l.owner is null
                         and (l.not_before is null or l.not_before <= clock_timestamp())) then clock_timestamp()
            else (select min(l.not_before) from lanes l where l.pending and l.owner is null) end as at
        union all
        select 'turns', min(l.lease_until) from lanes l where l.owner is not null
        union all
        select 'deliveries', case
            when exists (select from outbound o where o.state in ('ready', 'sending', 'checking')
                         and o.next_attempt_at <= clock_timestamp()
                         and (o.lease_until is null or o.lease_until < clock_timestamp())) then clock_timestamp()
            else (select min(greatest(o.next_attempt_at, o.lease_until)) from outbound o
                  where o.state in ('ready', 'sending', 'checking')) end
        union all
        select 'redraws', min(greatest(r.next_attempt_at, r.lease_until)) from redraws r where r.state = 'due'
        union all
        select 'quarantine', clock_timestamp()
        where exists (select from turns t where t.state = 'running' and t.quarantined)
        union all
        select 'notifications', clock_timestamp()
        where exists (select from notifications n where n.state = 'failed')
           or exists (select from notifications n where n.state = 'queued')
           or exists (select from outbound o where o.state = 'held')
        union all
        select 'approvals', clock_timestamp()
        where exists (select from approvals a where a.state = 'pending')
           or exists (select from approval_cards c where c.role = 'number')
        -- What abilities have due comes here, from their sql/due.sql.
        union all
        -- People's time.
        select p.work, clock_timestamp() + (p.at - p_now) from (
            select 'notifications' as work, min(n.not_before) as at from notifications n where n.state = 'held'
            union all
            select 'notifications', min(n.fall_back_at) from notifications n
            where n.state = 'sent' and n.fall_back_at is not null
            union all
            select 'agents', min(e.expires_at) from pool_entries e where e.status not in ('CANCELLED', 'COMPLETED')) p
        ) d
    where d.at is not null group by d.work
$$;

-- Returns the time after which work comes again that was tried so often.
create function pause_after(p_attempts int)
returns interval
language sql immutable as $$
    select least(interval '10 seconds' * 2 ^ least(p_attempts, 10), interval '15 minutes')
$$;
