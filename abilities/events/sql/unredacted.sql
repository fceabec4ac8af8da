        select exists (select from events e where e.tenant_id = p_tenant and value_says(e.data, p_phrases))
