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
