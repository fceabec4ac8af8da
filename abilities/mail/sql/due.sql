        select 'mail', min(greatest(w.next_attempt_at, w.lease_until)) from mail_watches w where not w.ended
