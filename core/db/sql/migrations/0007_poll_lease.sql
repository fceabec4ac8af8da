-- One of many web processes polls a channel: a lease by the database's clock. What is polled twice is taken in
-- once all the same, by its keys; the lease keeps the processes from ending each other's polls.
alter table channel_state add column poll_problem text not null default '';

-- Take or renew the lease; no row while another process holds it.
create function claim_poll(p_channel text, p_account text, p_owner text, p_ttl interval)
returns table (next_offset bigint)
language sql as $$
    insert into channel_state as s (channel, account, owner, lease_until)
    values (p_channel, p_account, p_owner, clock_timestamp() + p_ttl)
    on conflict (channel, account) do update
    set owner = excluded.owner, lease_until = excluded.lease_until
    where s.owner = excluded.owner or s.owner is null or s.lease_until is null
       or s.lease_until < clock_timestamp()
    returning coalesce(s.poll_offset, 0)
$$;

-- Keep from where to go on, and what stands in the way ('' for nothing); false when the lease is another's.
create function keep_poll(p_channel text, p_account text, p_owner text, p_offset bigint, p_problem text)
returns boolean
language plpgsql as $$
begin
    update channel_state s set poll_offset = p_offset, poll_problem = p_problem
    where s.channel = p_channel and s.account = p_account and s.owner = p_owner
      and s.lease_until >= clock_timestamp();
    return found;
end $$;

create function release_poll(p_channel text, p_account text, p_owner text)
returns void
language sql as $$
    update channel_state s set owner = null, lease_until = null
    where s.channel = p_channel and s.account = p_account and s.owner = p_owner
$$;

create function look_at_poll(p_channel text, p_account text)
returns table (polled boolean, problem text)
language sql stable as $$
    select coalesce(s.lease_until >= clock_timestamp(), false), s.poll_problem
    from channel_state s where s.channel = p_channel and s.account = p_account
$$;

-- Catch-up has a lease of its own: one worker at a time sweeps an account (promise 3).
alter table channel_state add column sweep_owner text;
alter table channel_state add column sweep_until timestamptz;

-- Take the sweep of an account: since when (null the first time) and when this sweep began; no row while
-- another worker sweeps.
create function claim_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval)
returns table (since timestamptz, began timestamptz)
language sql as $$
    insert into channel_state as s (channel, account, sweep_owner, sweep_until)
    values (p_channel, p_account, p_owner, clock_timestamp() + p_ttl)
    on conflict (channel, account) do update
    set sweep_owner = excluded.sweep_owner, sweep_until = excluded.sweep_until
    where s.sweep_owner = excluded.sweep_owner or s.sweep_owner is null or s.sweep_until < clock_timestamp()
    returning s.watermark, clock_timestamp()
$$;

-- The next sweep starts where this one began. A sweep that failed leaves the watermark and its lease runs out.
create function end_catch_up(p_channel text, p_account text, p_owner text, p_began timestamptz)
returns boolean
language plpgsql as $$
begin
    update channel_state s
    set watermark = greatest(coalesce(s.watermark, p_began), p_began), sweep_owner = null, sweep_until = null
    where s.channel = p_channel and s.account = p_account and s.sweep_owner = p_owner;
    return found;
end $$;
