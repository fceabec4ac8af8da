-- A turn whose model is down is tried again for a while (functions/outages.sql).

-- `model_down_since`: when the first of its tries in a row failed; `model_tries`: how many of them did.
-- `told_of_delay`: its person has been told that it takes longer, which is said once a turn.
alter table turns add column model_down_since timestamptz;
alter table turns add column model_tries int not null default 0;
alter table turns add column told_of_delay boolean not null default false;
