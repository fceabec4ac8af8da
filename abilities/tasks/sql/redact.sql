    -- Tasks and runs that are still to run stay as they are.
    update run_notices r set text = '[forgotten]', media = redact_value(r.media, p_phrases)
    where r.tenant_id = p_tenant and r.state <> 'open'
      and value_says(jsonb_build_array(r.text, r.media), p_phrases);
    update task_runs r set cause = redact_value(r.cause, p_phrases), history = redact_value(r.history, p_phrases),
        reason = redact_text(r.reason, p_phrases)
    where r.tenant_id = p_tenant and r.state not in ('QUEUED', 'RUNNING', 'PENDING_APPROVAL')
      and value_says(jsonb_build_array(r.cause, r.history, r.reason), p_phrases);
    update tasks k set title = redact_text(k.title, p_phrases),
        action = redact_value(k.action, p_phrases), watch = redact_value(k.watch, p_phrases),
        output = redact_value(k.output, p_phrases),
        trigger = redact_value(k.trigger, p_phrases), reason = redact_text(k.reason, p_phrases)
    where k.tenant_id = p_tenant and (k.state = 'COMPLETED' or k.deleted_at is not null)
      and value_says(jsonb_build_array(k.title, k.action, k.watch, k.output, k.trigger, k.reason), p_phrases);
