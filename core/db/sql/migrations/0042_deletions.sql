-- People who are deleted: what is still to do, and that it was done. A person's rows cannot say so themselves.

-- person: the id that the tenant had; it tells nothing of them. due_at: a person's own wish leaves time for the answer
-- to it. claimed_until: one worker at a time goes on. finished_at: nothing is left.
create table deletions (
    person        text primary key,
    asked_by      text not null check (asked_by in ('person', 'operator')),
    asked_at      timestamptz not null,
    due_at        timestamptz not null,
    claimed_until timestamptz,
    finished_at   timestamptz
);
create index deletions_open on deletions (due_at) where finished_at is null;
select shared_table('deletions', 'select, insert, update');

-- What hashes the keys of messages of deleted people, so that a message that comes again is known and nobody can read
-- from the hash which it was. It is made with the first deletion.
create table deletion_secret (
    one    boolean primary key default true check (one),
    secret bytea not null
);
select shared_table('deletion_secret', 'select');

-- Links to a person's archive. token_hash: of the link's end, which is stored nowhere. used_at: it works once.
create table export_links (
    tenant_id  text not null references tenants on delete cascade,
    token_hash bytea not null,
    made_at    timestamptz not null,
    expires_at timestamptz not null,
    used_at    timestamptz,
    primary key (tenant_id, token_hash)
);
create index export_links_by_token on export_links (token_hash);
select tenant_table('export_links');

alter table person_audit drop constraint person_audit_what_check, add constraint person_audit_what_check check (
    what in ('code', 'linked', 'merged', 'unlinked', 'preference', 'export_link', 'exported'));
