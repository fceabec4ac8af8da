    update event_work w set source = r.name from event_sources s join linked_rows r
        on r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'event_sources' and r.key = array[s.id]
    where w.tenant_id = p_other and s.tenant_id = p_other and w.source = s.name and s.name <> r.name;
    update events e set source = r.name from event_sources s join linked_rows r
        on r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'event_sources' and r.key = array[s.id]
    where e.tenant_id = p_other and s.tenant_id = p_other and e.source = s.name and s.name <> r.name;
    update event_sources s set name = r.name from linked_rows r
    where s.tenant_id = p_other and r.tenant_id = p_tenant and r.link_id = p_link and r.of = 'event_sources'
      and r.key = array[s.id];
