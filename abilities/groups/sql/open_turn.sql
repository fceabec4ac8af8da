                select 'among', group_turn(p_tenant, r.thread)
