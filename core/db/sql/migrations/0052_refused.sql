-- What can be sent or drawn but not written about, twice in a row, does not stand before what comes after it for ever.

-- A row of which a call may have left is not known to have failed: nothing that follows from a failure follows.
create function set_aside_outbound(p_tenant text, p_outbound text, p_fence bigint, p_reason text)
returns void
language plpgsql as $$
declare
    v_left boolean;
begin
    if outbound_let_go(p_tenant, p_outbound, p_fence) then
        return;
    end if;
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    v_left := exists (select 1 from deliveries d where d.tenant_id = p_tenant and d.outbound_id = p_outbound
                      and d.outcome in ('started', 'ambiguous', 'accepted', 'found'));
    update outbound o
    set state = case when v_left then 'ambiguous' else 'failed' end, reason = p_reason, owner = null, lease_until = null
    where o.tenant_id = p_tenant and o.id = p_outbound;
end $$;

create function set_aside_redraw(p_tenant text, p_outbound text, p_fence bigint, p_reason text)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update redraws r set state = 'given_up', reason = p_reason, lease_until = null
    where r.tenant_id = p_tenant and r.outbound_id = p_outbound and r.fence = p_fence and r.state = 'due';
end $$;

-- Whatever the reason, nobody sends again what was ignored, and no sweep looks back, so late. What was said once about a
-- place (say_once) stays: it is said once.
create function drop_ignored(p_before timestamptz, p_most integer)
returns table (messages bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    delete from ignored_messages g using (
        select i.channel, i.account, i.key from ignored_messages i where i.received_at < p_before
        and i.key not like 'said:%' limit p_most) old
    where g.channel = old.channel and g.account = old.account and g.key = old.key;
    get diagnostics messages = row_count;
    return next;
end $$;
create index ignored_messages_received on ignored_messages (received_at);

-- What stands still until somebody looks: memory's jobs that failed too often, and cards that cannot be drawn.
create function count_refused(out memory_jobs bigint, out redraws bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select (select count(*) from memory_jobs j where j.not_before = 'infinity'),
           (select count(*) from redraws r where r.state = 'given_up')
$$;

do $$
declare
    f text;
begin
    foreach f in array array['set_aside_outbound(text, text, bigint, text)', 'set_aside_redraw(text, text, bigint, text)',
                             'drop_ignored(timestamptz, integer)',
                             'count_refused()'] loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
