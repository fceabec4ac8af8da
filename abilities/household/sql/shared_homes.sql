    select 'household:ours', m.household_id from household_members m where m.tenant_id = p_tenant
