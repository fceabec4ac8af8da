-- Finds habits of which people are to be reminded; ids only.
create function find_due_habits(p_now timestamptz, p_limit int)
returns table (tenant_id text, habit_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select h.tenant_id, h.id from habits h where h.next_at <= p_now order by h.next_at limit p_limit
$$;
