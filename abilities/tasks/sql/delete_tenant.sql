    -- What they wanted others to be reminded of are their words. A reminder that is being set in this moment is a task next.
    perform 1 from reminder_wishes w where w.from_id = p_tenant order by w.tenant_id, w.id for update;
    delete from tasks t using reminder_wishes w
    where w.from_id = p_tenant and t.tenant_id = w.tenant_id and t.id = w.task_id;
    delete from reminder_wishes w where w.from_id = p_tenant;
    delete from reminder_permits p where p.from_id = p_tenant;
    delete from linked_rows r where r.of = 'reminder_permits' and r.key[1] = p_tenant;
