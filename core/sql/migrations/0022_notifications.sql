-- Notifications: what is held, digested, muted and capped.
select 1;
