        select 'followups', clock_timestamp()
        where exists (select from memories m where m.happens_at > p_now and m.valid_to is null and not m.held
                      and not exists (select from followups f where f.tenant_id = m.tenant_id
                                      and (f.memory_id = m.id or f.state = 'proposed' and f.digest_at > p_now)))
           or exists (select from followups f where f.state in ('proposed', 'kept') and not exists (
                      select from memories m where m.tenant_id = f.tenant_id and m.id = f.memory_id
                      and m.valid_to is null))
        union all
        select 'followups', clock_timestamp() + (min(case when f.digest_at > p_now then f.digest_at else f.ask_at end) - p_now)
        from followups f where f.state = 'proposed'
