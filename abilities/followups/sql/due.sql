        -- Of those to come the first, and of those whose looks failed, or are under way, the next.
        select 'followups', case
            when exists (select from followup_choices c where c.look_at <= p_now and c.next_attempt_at is null)
            then clock_timestamp()
            else clock_timestamp() + ((select min(c.look_at) from followup_choices c
                                       where c.look_at > p_now and c.next_attempt_at is null) - p_now) end
        union all
        select 'followups', min(c.next_attempt_at) from followup_choices c where c.next_attempt_at is not null
