        -- People's time.
        select 'held_answers', clock_timestamp() + (min(h.until) - p_now) from held_answers h where h.way = ''
