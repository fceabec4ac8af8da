        perform keep_feedback(v_tenant, p_message, p_change, p_now);
