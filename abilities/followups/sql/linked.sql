        select 'followups', array[memory_id], number, '' from followups where tenant_id = p_gone
