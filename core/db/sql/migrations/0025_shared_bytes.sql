-- Two people who were one for a while and had sent the same file share its bytes: the last row that goes takes them
-- along (functions/files.sql).

create index files_key on files (key);
create index files_unfinished on files (created_at) where state = 'storing';
