        select 'household_members', array[household_id], null, '' from household_members where tenant_id = p_gone
        union all select 'household_limits', array[key], null, '' from household_limits where tenant_id = p_gone
