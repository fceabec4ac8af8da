    update memory_messages m set message = redact_value(m.message, p_phrases)
    where m.tenant_id = p_tenant and value_says(m.message, p_phrases);
    delete from memory_terms t where t.tenant_id = p_tenant and says_any(t.term, p_phrases);
