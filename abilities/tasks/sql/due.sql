        select 'notices', min(n.next_attempt_at) from run_notices n where n.state = 'open'
        union all
        -- People's time.
        select 'tasks', clock_timestamp() + (min(t.next_at) - p_now) from tasks t
        where t.state = 'ACTIVE' and not t.held and t.next_at is not null
        union all
        select 'wishes', clock_timestamp()
        where exists (select from reminder_permits p where not p.told)
           or exists (select from reminder_wishes w
                      join reminder_permits p on p.tenant_id = w.tenant_id and p.from_id = w.from_id
                      where w.state = 'waiting' and p.state <> 'asked')
