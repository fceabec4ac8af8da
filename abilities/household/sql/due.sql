        select 'household news', min(n.next_attempt_at) from household_news n
        union all
        select 'household news', min(l.next_attempt_at) from household_limits l where l.state = 'lift'
