        select 'followups', array[memory_id], null, '' from followups where tenant_id = p_gone
