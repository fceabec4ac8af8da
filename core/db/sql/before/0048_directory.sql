-- The functions of the release before name the key of inbox_keys that migration 0048 takes away. They serve until those of
-- this release are applied, a moment later, so their insert stops naming it first. The migration does the same, too late
-- for calls that wait for it; it was applied to databases before this file was there, so it stays as it is.
do $$
declare
    v_source text;
begin
    for v_source in select pg_get_functiondef(p.oid) from pg_proc p
                    where p.pronamespace = current_schema()::regnamespace and p.proname = 'take_message' loop
        execute replace(v_source, 'inbox_keys (channel, account, key, tenant_id, inbound_id)
    select v.channel, v.account, k, v_tenant, v.id from unnest(v.keys) k order by k
    on conflict (channel, account, key) do nothing', 'inbox_keys (channel, account, key, tenant_id, inbound_id)
    select v.channel, v.account, k, v_tenant, v.id from unnest(v.keys) k order by k
    on conflict do nothing');
    end loop;
end $$;
