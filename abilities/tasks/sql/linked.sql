        select 'tasks', array[id], number, '' from tasks where tenant_id = p_gone
