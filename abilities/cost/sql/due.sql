        -- People's time, and not before the pause of one that failed.
        select 'held_answers', min(greatest(clock_timestamp() + (h.until - p_now), h.next_attempt_at))
        from held_answers h where h.way = ''
