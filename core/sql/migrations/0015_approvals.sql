-- Approvals: requests for consent, their decisions and their audit.
select 1;
