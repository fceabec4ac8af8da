        select 'habits', clock_timestamp() + (min(h.next_at) - p_now) from habits h where h.next_at is not null
