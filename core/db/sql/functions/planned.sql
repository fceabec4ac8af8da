-- What abilities have planned for a person: for their page in a channel, their archive, and operators.

-- Lists what is planned by numbers, with when it comes next and, where it recurs, by which cron; all but what is over.
create function planned_work(p_tenant text)
returns table (id text, number int, title text, due_at timestamptz, zone text, cron text, active boolean)
language sql stable as $$
    select null::text, null::int, null::text, null::timestamptz, null::text, null::text, null::boolean where false
    -- Each plan comes from their sql/planned.sql.
$$;

-- Counts what abilities keep going for a person, by kind.
create function count_active_work(p_tenant text)
returns table (kind text, number bigint)
language sql stable as $$
    select null::text, null::bigint where false
    -- Each kind comes from their sql/active.sql.
$$;
