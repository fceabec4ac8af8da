        select r.task_id from task_runs r where r.tenant_id = p_tenant and r.turn_id = p_turn
