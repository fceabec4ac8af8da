    update events e set data = redact_value(e.data, p_phrases)
    where e.tenant_id = p_tenant and value_says(e.data, p_phrases) and not exists (
        select from event_work w where w.tenant_id = p_tenant and w.source = e.source and w.event_id = e.id
          and w.state = 'waiting');
