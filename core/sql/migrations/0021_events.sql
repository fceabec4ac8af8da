-- Events: sources and what happened elsewhere.
select 1;
