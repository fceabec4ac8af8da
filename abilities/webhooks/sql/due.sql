        select 'webhooks', min(greatest(m.next_attempt_at, m.lease_until, e.retry_at)) from webhook_messages m
        join webhook_endpoints e on e.id = m.endpoint_id and e.active where m.state = 'waiting'
