        -- The first look of those that have not failed, and are not under way; and the next of those. Without any: null.
        select 'followups', clock_timestamp() + case when min(c.look_at) > p_now then min(c.look_at) - p_now
                                                     when min(c.look_at) <= p_now then interval '0' end
        from followup_choices c where c.next_attempt_at is null
        union all
        select 'followups', min(c.next_attempt_at) from followup_choices c where c.next_attempt_at is not null
