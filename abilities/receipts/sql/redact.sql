    update receipts r set told = redact_receipt(r.told, p_phrases)
    where r.tenant_id = p_tenant and value_says(r.told, p_phrases) and redact_receipt(r.told, p_phrases) <> r.told;
