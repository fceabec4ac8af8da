        select 1 from tasks t where t.tenant_id = p_tenant and t.kind = 'event' and t.state = 'ACTIVE'
          and may_match(p_channel, t.trigger ->> 'source') and may_match(p_type, t.trigger ->> 'type')
