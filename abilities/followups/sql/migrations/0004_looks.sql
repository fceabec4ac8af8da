-- When a person's follow-ups are to be looked at next, by people's time, so that nobody else's are read. Null: when something
-- of theirs changes.
alter table followup_choices add column look_at timestamptz;
create index followup_choices_looks on followup_choices (look_at) where look_at is not null and next_attempt_at is null;
do $$
begin
    -- The tables of memory come after these: where they are not there yet, nobody has anything ahead.
    if to_regclass('memories') is not null then
        insert into followup_choices (tenant_id, look_at)
        select w.tenant_id, 'epoch' from (
            select m.tenant_id from memories m where m.happens_at > now() and m.valid_to is null
            union select f.tenant_id from followups f where f.state in ('proposed', 'kept')) w
        on conflict (tenant_id) do update set look_at = excluded.look_at;
    end if;
end $$;
