-- How each worker fares, written down by itself every few seconds: nobody else can tell from outside.
create table worker_health (
    worker      text primary key,
    seen_at     timestamptz not null default clock_timestamp(),
    -- Seconds by which its machine's time is ahead of the database's; null while it has not looked.
    clock_ahead double precision,
    -- Its parts that fail: [{part, failures, cause, at}].
    failing     jsonb not null default '[]'
);

-- Notes how a worker fares, and forgets those that have been gone for an hour.
create function note_worker(p_worker text, p_ahead double precision, p_failing jsonb)
returns void
language plpgsql as $$
begin
    insert into worker_health as h (worker, seen_at, clock_ahead, failing)
    values (p_worker, clock_timestamp(), p_ahead, p_failing)
    on conflict (worker) do update
    set seen_at = excluded.seen_at, clock_ahead = excluded.clock_ahead, failing = excluded.failing;
    delete from worker_health h where h.seen_at < clock_timestamp() - interval '1 hour';
end $$;

alter table worker_health enable row level security;
alter table worker_health force row level security;
create policy nobodys on worker_health using (true) with check (true);
grant select, insert, update, delete on worker_health to onevalet_app;
revoke all on function note_worker(text, double precision, jsonb) from public;
grant execute on function note_worker(text, double precision, jsonb) to onevalet_app;
