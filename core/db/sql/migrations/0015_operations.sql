-- Each worker's health, reported by itself every few seconds: nobody else can tell from outside.
create table worker_health (
    worker      text primary key,
    seen_at     timestamptz not null default clock_timestamp(),
    -- Seconds by which its machine's clock is ahead of the database's; null before the first check.
    clock_ahead double precision,
    -- Its parts that fail: [{part, failures, cause, at}].
    failing     jsonb not null default '[]'
);
select shared_table('worker_health', 'select, insert, update, delete');

-- Tests whether writes work again, after one was refused for a full or broken disk: an update of an existing page would
-- prove nothing, so the probe needs new pages. Truncating gives it a new file each time, and the old one back.
create unlogged table write_probe (filler text not null);
alter table write_probe alter column filler set storage plain;
alter table write_probe enable row level security;
alter table write_probe force row level security;
create policy owner on write_probe to current_user using (true) with check (true);
