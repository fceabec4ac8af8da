-- stands for 0001_connect_links 39ddb0db2edb80e001c28f828f023f9f5dbbdb86d5b5adab609c7b3291367b04

-- Links by which a person connects an account on our page.

-- token_hash: the hash of the link's end, which is stored nowhere. service: empty where the page lets the person choose;
-- account_name: the account to renew or extend, or the name that a new one gets; abilities: what is wanted of it.
-- browser_hash: the browser that went on first, and the only one that may since. state_hash: the one answer of a server
-- that is waited for; key_version, sealed: what that answer is checked with. tries: passwords tried.
create table connect_links (
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
create index connect_links_by_token on connect_links (token_hash);
create index connect_links_by_state on connect_links (state_hash) where state_hash is not null;
select tenant_table('connect_links');
