-- Accounts of channels: when they were last used, and the leases of polls and sweeps.

-- At most once a second per account, so that a busy account does not queue on this one row.
create function mark_channel(p_channel text, p_account text, p_in boolean)
returns void
language plpgsql as $$
begin
    if exists (select 1 from channel_state s where s.channel = p_channel and s.account = p_account
               and case when p_in then s.last_in_at else s.last_out_at end
                   > clock_timestamp() - interval '1 second') then
        return;
    end if;
    insert into channel_state as s (channel, account, last_in_at, last_out_at)
    values (p_channel, p_account,
            case when p_in then clock_timestamp() end, case when not p_in then clock_timestamp() end)
    on conflict (channel, account) do update
    set last_in_at = coalesce(excluded.last_in_at, s.last_in_at),
        last_out_at = coalesce(excluded.last_out_at, s.last_out_at);
end $$;

-- Takes or renews the lease; no row while another process holds it.
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

-- Stores the poll's position and problem ('' for none); false if another process holds the lease.
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

-- Claims the sweep of an account. Returns where to start (null the first time), when this sweep began, and its position
-- ('' at the beginning); no row while another worker sweeps.
create function claim_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval)
returns table (since timestamptz, began timestamptz, place text)
language sql as $$
    insert into channel_state as s (channel, account, sweep_owner, sweep_until, sweep_began)
    values (p_channel, p_account, p_owner, clock_timestamp() + p_ttl, clock_timestamp())
    on conflict (channel, account) do update
    set sweep_owner = excluded.sweep_owner, sweep_until = excluded.sweep_until,
        sweep_began = coalesce(s.sweep_began, excluded.sweep_began)
    where s.sweep_owner = excluded.sweep_owner or s.sweep_owner is null or s.sweep_until < clock_timestamp()
    returning s.watermark, s.sweep_began, s.sweep_place
$$;

-- Ends a sweep: the next one starts where this one began. After a failed sweep the watermark stays and the lease
-- expires.
create function end_catch_up(p_channel text, p_account text, p_owner text, p_began timestamptz)
returns boolean
language plpgsql as $$
begin
    update channel_state s
    set watermark = greatest(coalesce(s.watermark, p_began), p_began), sweep_owner = null, sweep_until = null,
        sweep_began = null, sweep_place = ''
    where s.channel = p_channel and s.account = p_account and s.sweep_owner = p_owner;
    return found;
end $$;

-- Renews the sweep's lease and stores its position (null: unchanged); false if another worker holds it by now.
create function keep_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval, p_place text)
returns boolean
language plpgsql as $$
begin
    update channel_state s
    set sweep_until = clock_timestamp() + p_ttl, sweep_place = coalesce(p_place, s.sweep_place)
    where s.channel = p_channel and s.account = p_account and s.sweep_owner = p_owner;
    return found;
end $$;

-- Releases an unfinished sweep, which the next worker continues.
create function leave_catch_up(p_channel text, p_account text, p_owner text)
returns void
language sql as $$
    update channel_state set sweep_owner = null, sweep_until = null
    where channel = p_channel and account = p_account and sweep_owner = p_owner
$$;
