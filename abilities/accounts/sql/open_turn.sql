                select 'several_accounts', to_jsonb((
                    select count(*) > 1 from credentials c where c.tenant_id = p_tenant))
