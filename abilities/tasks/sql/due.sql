        select 'notices', min(n.next_attempt_at) from run_notices n where n.state = 'open'
        union all
        -- People's time.
        select 'tasks', clock_timestamp() + (min(t.next_at) - p_now) from tasks t
        where t.state = 'ACTIVE' and not t.held and t.next_at is not null
        union all
        select 'wishes', min(p.next_attempt_at) from reminder_permits p where not p.told and not is_name_asked(p)
        union all
        -- A reminder waits for its permit, or for its own moment, which is people's time.
        select 'wishes', min(case when w.untold or p.state <> 'asked' then w.next_attempt_at
                                  else greatest(w.next_attempt_at, clock_timestamp() + (w.at - p_now)) end)
        from reminder_wishes w left join reminder_permits p on p.tenant_id = w.tenant_id and p.from_id = w.from_id
        where w.state = 'waiting' or w.untold
        union all
        select 'spared', clock_timestamp() + (min(t.make_up_at) - p_now) from tasks t where t.make_up_at is not null
