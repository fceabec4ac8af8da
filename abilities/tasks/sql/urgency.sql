        select t.output ->> 'urgency' from task_runs r join tasks t on t.tenant_id = r.tenant_id and t.id = r.task_id
        where r.tenant_id = p_tenant and r.id = p_run
