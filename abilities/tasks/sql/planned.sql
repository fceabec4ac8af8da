    select t.id, t.number, t.title, t.due_at, t.zone, t.trigger ->> 'cron', t.state = 'ACTIVE' and not t.held
    from tasks t
    where t.tenant_id = p_tenant and t.kind = 'schedule' and t.due_at is not null and t.deleted_at is null
