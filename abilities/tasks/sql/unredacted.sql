        select exists (select from run_notices r where r.tenant_id = p_tenant
                       and value_says(jsonb_build_array(r.text, r.media), p_phrases))
        union all
        select exists (select from task_runs r where r.tenant_id = p_tenant
                       and value_says(jsonb_build_array(r.cause, r.history, r.reason), p_phrases))
