-- Links by which a person connects an account on our page.

-- token_hash: the hash of the link's end, which is stored nowhere. service: empty where the page lets the person choose;
-- account_name: the account to renew or extend, or the name that a new one gets; abilities: what is wanted of it.
-- browser_hash: the browser that went on first, and the only one that may since. state_hash: the one answer of a server
-- that is waited for; key_version, sealed: what that answer is checked with. tries: passwords tried.
create table if not exists connect_links (
    tenant_id       text not null references tenants on delete cascade,
    token_hash      bytea not null,
    conversation_id text,
    service         text not null,
    account_name    text not null,
    abilities       text[] not null,
    made_at         timestamptz not null,
    expires_at      timestamptz not null,
    browser_hash    bytea,
    state_hash      bytea,
    key_version     int,
    sealed          bytea,
    tries           int not null default 0,
    done_at         timestamptz,
    primary key (tenant_id, token_hash)
);
create index if not exists connect_links_by_token on connect_links (token_hash);
create index if not exists connect_links_by_state on connect_links (state_hash) where state_hash is not null;

-- Those that the spine's migrations made are kept apart already.
select tenant_table(t.name) from unnest('{connect_links}'::text[]) t (name)
where not exists (select from pg_policy p where p.polrelid = t.name::regclass and p.polname = 'one_tenant');
