        select exists (select from joint_consents j where j.tenant_id = p_tenant and value_says(
            jsonb_build_array(j.summary, j.shown, j.form, j.other_name, j.from_name), p_phrases))
