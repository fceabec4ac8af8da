    perform part_wishes(p_tenant, p_other, p_link);
