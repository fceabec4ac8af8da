    update joint_consents j
    set summary = redact_text(j.summary, p_phrases), shown = redact_value(j.shown, p_phrases),
        form = redact_value(j.form, p_phrases), other_name = redact_text(j.other_name, p_phrases),
        from_name = redact_text(j.from_name, p_phrases), agreed = redact_value(j.agreed, p_phrases)
    where j.tenant_id = p_tenant and j.state <> 'asking'
      and value_says(jsonb_build_array(j.summary, j.shown, j.form, j.other_name, j.from_name), p_phrases);
