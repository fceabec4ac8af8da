-- Halts in all partitions of people: each follows what the others know, so one that was away does so once it is back.

-- Begins here what lasts in another partition, and lifts what was lifted there; true if there was any of it. One that was
-- lifted here does not come back, and of two that last at once the second follows when the first is lifted.
create function follow_halts(p_halts jsonb)
returns boolean
language plpgsql as $$
declare
    v_lifted boolean;
begin
    perform pg_advisory_xact_lock(hashtextextended('halts', 0));
    update halts h set lifted_at = clock_timestamp(), lifted_how = v.value ->> 'lifted_how'
    from jsonb_array_elements(p_halts) v
    where h.lifted_at is null and h.key = v.value ->> 'key' and not (v.value ->> 'lasts')::boolean;
    v_lifted := found;
    insert into halts (key, how, code)
    select v.value ->> 'key', v.value ->> 'how', v.value ->> 'code' from jsonb_array_elements(p_halts) v
    where (v.value ->> 'lasts')::boolean and not is_halted()
      and not exists (select from halts h where h.key = v.value ->> 'key')
    order by 1 limit 1;
    return v_lifted or found;
end $$;
