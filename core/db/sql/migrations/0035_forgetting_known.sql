-- The newest memory when the person was asked what to forget: what is newer was not shown to them.

-- The default is for questions that were asked before this column was there: nothing counts as newer.
alter table memory_forgettings add column known bigint not null default 9223372036854775807;
