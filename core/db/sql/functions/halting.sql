-- A halt of all work: nothing is claimed, nothing that has an effect begins, and nothing leaves, until it ends. Whether
-- there is one is an ability's to say. Every function that claims work asks: tests/core/db/test_halting.py finds them.
-- It runs as its owner, for whomever it is asked: a plan under row-level security holds for one role only, and was made
-- anew whenever another asked.

create function is_halted()
returns boolean
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
    return exists (
        select where false
        -- Whether all work is halted comes from their sql/halted.sql.
    );
end $$;

-- Returns the halts that last, and those that ended lately, for the other partitions of people.
create function known_halts()
returns jsonb
language plpgsql stable as $$
begin
    return coalesce((select jsonb_agg(k.halt) from (
        select null::jsonb as halt where false
        -- Each comes from their sql/known_halts.sql.
    ) k), '[]');
end $$;

-- Raises OV003 while all work is halted: what was about to begin goes back, and begins after the halt.
create function require_no_halt()
returns void
language plpgsql stable as $$
begin
    if is_halted() then
        raise exception 'all work is halted' using errcode = 'OV003';
    end if;
end $$;

-- Returns the moment from which a time is counted: its own, or that at which the last halt ended. What could not be
-- tried during a halt is not late for it.
create function since_halt(p_at timestamptz)
returns timestamptz
language plpgsql stable as $$
begin
    return greatest(p_at, (select max(l.at) from (
        select null::timestamptz as at where false
        -- When halts ended comes from their sql/lifted.sql.
    ) l));
end $$;
