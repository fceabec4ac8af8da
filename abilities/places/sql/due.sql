        select 'places', min(s.next_attempt_at) from seen_places s where s.looked_at is null and s.latitude is not null
