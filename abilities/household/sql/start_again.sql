    perform take_limits_along(p_tenant, p_new_tenant);
