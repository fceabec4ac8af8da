-- Tasks: triggers, occurrences and runs.
select 1;
