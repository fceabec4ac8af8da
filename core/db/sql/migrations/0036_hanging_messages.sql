-- An outbound message that blocks its worker is charged like a turn: after three times the worker gives it up.

alter table outbound add column hangs int not null default 0;

-- What a worker held that is known to be dead is free for the next claim. p_hung as in judge_dead, or an outbound message.
create or replace function end_leases(p_worker text, p_hung text)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_sent boolean;
begin
    update outbound set hangs = hangs + 1 where id = p_hung;
    v_sent := found;
    -- Turns beside it are charged as for any other death.
    perform judge_dead(d.process, case when v_sent then null else p_hung end) from (
        select distinct process_of(l.owner) as process from lanes l
        where l.owner is not null and starts_with(l.owner, p_worker || '/')) d;
    update outbound set lease_until = clock_timestamp()
    where lease_until > clock_timestamp() and starts_with(owner, p_worker || '/');
    update channel_state set sweep_until = clock_timestamp()
    where sweep_until > clock_timestamp() and (sweep_owner = p_worker or starts_with(sweep_owner, p_worker || '/'));
end $$;
