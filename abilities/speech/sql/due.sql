        select 'speech', min(coalesce(s.lease_until, s.created_at)) from spoken_answers s
        join outbound o on o.tenant_id = s.tenant_id and o.id = s.outbound_id
        where s.state = 'waiting' and o.state in ('sent', 'ambiguous', 'failed')
