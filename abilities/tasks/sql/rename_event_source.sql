    -- The runs that its events caused, and the tasks that wait for exactly this source.
    update task_runs r
    set occurrence = p_name || ':' || (r.cause ->> 'id'), cause = jsonb_set(r.cause, '{source}', to_jsonb(p_name))
    where r.tenant_id = p_tenant and r.occurrence = v_former || ':' || (r.cause ->> 'id');
    update tasks t set trigger = jsonb_set(t.trigger, '{source}', to_jsonb(p_name))
    where t.tenant_id = p_tenant and t.kind = 'event' and t.trigger ->> 'source' = v_former;
