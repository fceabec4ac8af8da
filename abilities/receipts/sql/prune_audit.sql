    with old as materialized (
        select o.tenant_id, o.turn_id, o.agent_path, o.step, o.call_index from receipts o
        where o.at < p_before order by o.at limit p_limit for update skip locked)
    delete from receipts r using old o
    where r.tenant_id = o.tenant_id and r.turn_id = o.turn_id and r.agent_path = o.agent_path and r.step = o.step
      and r.call_index = o.call_index;
    get diagnostics v_count = row_count;
    v_all := v_all + v_count;
