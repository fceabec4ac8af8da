-- Backups: who takes the next one, and when the last one was taken.

-- Begins a backup, unless another is being taken; with p_every only where none was begun within that time, and with
-- p_retry none failed within that. Returns whether it began.
create function begin_backup(
    p_id text, p_worker text, p_now timestamptz, p_lease interval, p_every interval default null,
    p_retry interval default null)
returns boolean
language plpgsql as $$
begin
    perform pg_advisory_xact_lock(hashtextextended('backup', 0));
    if exists (select from backups b where b.id = p_id) then
        return true;
    end if;
    if exists (select from backups b where b.finished_at is null and b.lease_until > clock_timestamp()) then
        return false;
    end if;
    if exists (select from backups b where b.began_at > p_now - case when b.finished_at is null or b.failure <> ''
                                                                     then p_retry else p_every end) then
        return false;
    end if;
    insert into backups (id, worker, began_at, lease_until) values (p_id, p_worker, p_now, clock_timestamp() + p_lease);
    return true;
end $$;

-- Records the end of a backup, and forgets all but the newest p_kept of the records.
create function end_backup(
    p_id text, p_now timestamptz, p_file text, p_bytes bigint, p_failure text, p_kept int default 1000)
returns void
language sql as $$
    update backups b set finished_at = p_now, file = p_file, bytes = p_bytes, failure = p_failure where b.id = p_id;
    delete from backups b using (
        select o.id from backups o order by o.began_at desc, o.id offset p_kept) old
    where b.id = old.id
$$;

-- Returns when the last backup that came to an end was taken, and what has failed since.
create function last_backup()
returns table (began_at timestamptz, file text, bytes bigint, failed bigint, failure text)
language sql stable as $$
    select g.began_at, g.file, g.bytes, f.failed, f.failure
    from (select 1) one
    left join lateral (
        select b.began_at, b.file, b.bytes from backups b
        where b.finished_at is not null and b.failure = '' order by b.began_at desc limit 1) g on true
    left join lateral (
        select count(*) as failed, (array_agg(b.failure order by b.began_at desc))[1] as failure from backups b
        where b.failure <> '' and (g.began_at is null or b.began_at > g.began_at)) f on true
$$;
