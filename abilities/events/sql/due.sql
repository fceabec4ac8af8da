        select 'events', case
            when exists (select from event_work w where w.state = 'waiting' and w.next_attempt_at <= clock_timestamp()
                         and (w.lease_until is null or w.lease_until < clock_timestamp())) then clock_timestamp()
            else (select min(greatest(w.next_attempt_at, w.lease_until)) from event_work w where w.state = 'waiting') end
