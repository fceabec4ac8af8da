        select r.task_id, r.cause ->> 'type' = 'delivery.failed'
        from task_runs r where r.tenant_id = new.tenant_id and (r.turn_id = new.turn_id or r.id in (
            select n.run_id from notifications n where n.tenant_id = new.tenant_id and (n.outbound_id = new.id
                or n.digest_id in (select d.id from notifications d
                                   where d.tenant_id = new.tenant_id and d.outbound_id = new.id))))
