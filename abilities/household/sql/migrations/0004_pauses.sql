-- News and limits to be lifted come again by themselves, later each time, until they are done.
alter table household_news
    add column attempts int not null default 0,
    add column next_attempt_at timestamptz not null default clock_timestamp();
drop index household_news_next;
create index household_news_next on household_news (next_attempt_at);
alter table household_limits
    add column attempts int not null default 0,
    add column next_attempt_at timestamptz not null default clock_timestamp();
drop index household_limits_lift;
create index household_limits_lift on household_limits (next_attempt_at) where state = 'lift';
