    delete from memory_recalls r using turns t
    where t.finished_at > v_from and t.finished_at <= v_upto and r.tenant_id = t.tenant_id and r.turn_id = t.id;
