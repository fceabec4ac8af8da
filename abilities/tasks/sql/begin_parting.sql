    update tasks t set state = 'PAUSED', reason = 'made while two people were linked'
    where t.tenant_id = p_tenant and t.created_at > v_link.made_at and t.state = 'ACTIVE'
      and not exists (select from linked_rows r where r.tenant_id = p_tenant and r.of = 'tasks' and r.key = array[t.id]
                      and r.link_id <> p_link);
