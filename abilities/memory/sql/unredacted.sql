        select exists (select from memory_jobs j where j.tenant_id = p_tenant and value_says(j.messages, p_phrases))
