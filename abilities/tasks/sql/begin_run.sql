    return query select * from begin_task_run(p_tenant, p_turn, p_on);
