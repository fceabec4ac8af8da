        select 'household_members', array[household_id], null, '' from household_members where tenant_id = p_gone
