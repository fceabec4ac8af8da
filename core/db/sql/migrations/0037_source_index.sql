-- Requests at /events come from strangers, too. Web processes know every source's id, and what a bearer's secret is
-- looked up by, so that a request which names none of them ends before it costs a transaction.
create index event_sources_created on event_sources (created_at);

-- `bearer_key` is a hash of the hash of a bearer's secret, so that what leaves here opens nothing.
create function event_source_keys(p_since timestamptz)
returns table (source_id text, bearer_key bytea, created_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
    select s.id, coalesce(sha256(s.secret_hash), ''), s.created_at from event_sources s where s.created_at >= p_since
$$;

-- Keeps an event of a source, as publish_event does. `current`: whether the source is still this person's under this
-- name. Web processes remember it for seconds, and two people may have become one since, or the source deleted.
create function publish_source_event(
    p_tenant text, p_source_id text, p_source text, p_id text, p_also text, p_type text, p_data jsonb,
    p_occurred_at timestamptz)
returns table (current boolean, groups text[])
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform from event_sources s
    where s.tenant_id = p_tenant and s.id = p_source_id and s.name = p_source for key share;
    if found then
        return query select true, publish_event(p_tenant, p_source, p_id, p_also, p_type, p_data, p_occurred_at);
    else
        return query select false, null::text[];
    end if;
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('event_source_keys', 'publish_source_event')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
