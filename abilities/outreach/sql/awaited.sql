        select where awaits_outreach(p_arrival, p_known)
