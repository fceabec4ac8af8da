-- A sweep of what was missed goes on where it was cut off, in whatever process comes next: where processes die often
-- or a provider is slow, none would ever come to its end otherwise, and the watermark would never move.

alter table channel_state
    add column sweep_began timestamptz,
    add column sweep_place text not null default '';

drop function claim_catch_up(text, text, text, interval);

-- Take the sweep of an account: since when (null the first time), when this sweep began, and how far it came ('' at its
-- beginning); no row while another worker sweeps.
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

-- Prolong the sweep, and remember how far it came (null: no further); false when it is another's by now.
create function keep_catch_up(p_channel text, p_account text, p_owner text, p_ttl interval, p_place text)
returns boolean
language plpgsql as $$
begin
    update channel_state s
    set sweep_until = clock_timestamp() + p_ttl, sweep_place = coalesce(p_place, s.sweep_place)
    where s.channel = p_channel and s.account = p_account and s.sweep_owner = p_owner;
    return found;
end $$;

-- Let go of a sweep that is not over: whoever sweeps next goes on with it.
create function leave_catch_up(p_channel text, p_account text, p_owner text)
returns void
language sql as $$
    update channel_state set sweep_owner = null, sweep_until = null
    where channel = p_channel and account = p_account and sweep_owner = p_owner
$$;

-- The next sweep starts where this one began.
create or replace function end_catch_up(p_channel text, p_account text, p_owner text, p_began timestamptz)
returns boolean
language plpgsql as $$
begin
    update channel_state s
    set watermark = greatest(coalesce(s.watermark, p_began), p_began), sweep_owner = null, sweep_until = null,
        sweep_began = null, sweep_place = ''
    where s.channel = p_channel and s.account = p_account and s.sweep_owner = p_owner;
    return found;
end $$;

do $$
declare
    f text;
begin
    foreach f in array array[
        'claim_catch_up(text, text, text, interval)', 'keep_catch_up(text, text, text, interval, text)',
        'leave_catch_up(text, text, text)', 'end_catch_up(text, text, text, timestamptz)'] loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
