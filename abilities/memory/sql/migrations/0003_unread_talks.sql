-- Talks are claimed by an index for each reason to read them, so that those of other people cost nothing.

-- How many turns of the person waited to be read when this one came, with it.
alter table profile_jobs add column unread int not null default 1;
create index profile_jobs_again on profile_jobs (not_before) where attempts > 0;
-- Most people are quiet before they have said so much, and their turns need no entry here.
create index profile_jobs_many on profile_jobs (unread) where attempts = 0 and unread >= 5;
