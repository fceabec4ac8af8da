-- outside: the text of a run's notice has words of others, which the conversation's history leaves out.
alter table run_notices add column outside boolean not null default false;
