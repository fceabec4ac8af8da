    -- Waits for runs that start in this moment: one that is committed later would keep its event's former name.
    perform 1 from tasks t where t.tenant_id = v_gone order by t.id for update;
