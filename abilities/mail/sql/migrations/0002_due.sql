-- When a mailbox may be claimed, by which what is due is found without a look at each that is watched.
create index mail_watches_free on mail_watches (greatest(next_attempt_at, lease_until)) where not ended;
