        select 'tasks', array[id], number, '' from tasks where tenant_id = p_gone
        union all select 'reminder_wishes', array[id], null, '' from reminder_wishes where tenant_id = p_gone
        union all select 'reminder_permits', array[from_id], null, state || ' ' || from_name from reminder_permits
        where tenant_id = p_gone
        -- What they want of others, and may, is in the rows of these.
        union all select 'wishes of others', array[tenant_id, id], null, '' from reminder_wishes where from_id = p_gone
        union all select 'permits of others', array[tenant_id], null, state || ' ' || from_name from reminder_permits
        where from_id = p_gone
