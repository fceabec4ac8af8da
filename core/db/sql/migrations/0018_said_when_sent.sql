-- What is said of a decision is stored by its key and worded when it is sent.

-- What the text is made of at the first rendering, in the person's language: an array of {key, values}. Empty: the text
-- is fixed.
alter table outbound add column sentences jsonb not null default '[]';

-- `outcome` is the key of the line to show from now on, and `outcome_at` the moment in it. The owner is held to the
-- policies too, so they are lifted while all people's rows are filled in.
alter table redraws add column outcome_at timestamptz;
alter table redraws no force row level security;
alter table approvals no force row level security;
alter table approval_cards no force row level security;
update redraws r
set outcome = case a.reason when 'reissued' then a.reason else a.state end, outcome_at = a.decided_at
from approval_cards k join approvals a on a.tenant_id = k.tenant_id and a.id = k.approval_id
where k.tenant_id = r.tenant_id and k.outbound_id = r.outbound_id and k.role = 'card' and a.decided_at is not null;
delete from redraws r where r.outcome_at is null;
alter table redraws force row level security;
alter table approvals force row level security;
alter table approval_cards force row level security;
alter table redraws alter column outcome_at set not null;
