        select 'notices', min(n.next_attempt_at) from run_notices n where n.state = 'open'
        union all
        -- People's time.
        select 'tasks', clock_timestamp() + (min(t.next_at) - p_now) from tasks t
        where t.state = 'ACTIVE' and not t.held and t.next_at is not null
