    insert into memory_recalls (tenant_id, turn_id, report, created_at)
    select p_tenant, p_turn, n.report, v_turn.tried_at + make_interval(secs => (n.report ->> 'took_ms')::float8 / 1000)
    from (select p_end #> '{noted, memory}' as report) n where n.report is not null
    on conflict (tenant_id, turn_id) do update set report = excluded.report, created_at = excluded.created_at;
