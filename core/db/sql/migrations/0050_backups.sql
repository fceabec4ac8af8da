-- Backups of the whole database, so that their age can be read, and so that one worker at a time takes one.

-- worker: who takes it; empty for a command. lease_until: whoever takes it lives. failure: why it came to nothing, as a
-- name. file: where it lies on the machine that took it.
create table backups (
    id          text primary key,
    worker      text not null default '',
    began_at    timestamptz not null,
    lease_until timestamptz not null,
    finished_at timestamptz,
    file        text not null default '',
    bytes       bigint not null default 0,
    failure     text not null default ''
);
create index backups_finished on backups (finished_at);
select shared_table('backups', 'select, insert, update, delete');
