-- Files that a task's run sends its person, as `outbound.media` has them.
alter table run_notices add column media jsonb not null default '[]';
