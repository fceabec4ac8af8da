-- Whether writes work again, after one was refused for a full or broken disk: an update of a page that is there would
-- tell nothing, so the probe needs new pages. Truncating gives it a new file each time, and the old one back.

create unlogged table write_probe (filler text not null);
alter table write_probe alter column filler set storage plain;
alter table write_probe enable row level security;
alter table write_probe force row level security;
create policy owner on write_probe to current_user using (true) with check (true);

create function probe_write()
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    perform set_config('lock_timeout', '1s', true);
    truncate write_probe;
    insert into write_probe select repeat('x', 4000) from generate_series(1, 32);
end $$;

revoke all on function probe_write() from public;
grant execute on function probe_write() to onevalet_app;
