-- Which of a person's accounts is meant for mail, for the calendar and for contacts, over all services.

-- preferred_for: the kinds of things for which an account is used where none is named, each kind in one row at most;
-- it comes before preferred, which is the default of a service.
alter table credentials add column preferred_for text[] not null default '{}';
