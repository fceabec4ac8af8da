    perform end_membership(p_tenant);
