-- The console: links by which people sign in to it, their sessions, and who looked at whose texts.

-- token_hash: of the link's end, which is stored nowhere. operator: whether the console then shows everybody's.
create table console_links (
    tenant_id  text not null references tenants on delete cascade,
    token_hash bytea not null,
    operator   boolean not null,
    made_at    timestamptz not null,
    expires_at timestamptz not null,
    primary key (tenant_id, token_hash)
);
create index console_links_by_token on console_links (token_hash);
select tenant_table('console_links');

create table console_sessions (
    tenant_id  text not null references tenants on delete cascade,
    token_hash bytea not null,
    operator   boolean not null,
    begun_at   timestamptz not null,
    seen_at    timestamptz not null,
    expires_at timestamptz not null,
    primary key (tenant_id, token_hash)
);
create index console_sessions_by_token on console_sessions (token_hash);
select tenant_table('console_sessions');

-- Each look of an operator at what belongs to somebody else. viewer: the operator's own id.
create table console_looks (
    tenant_id text not null references tenants on delete cascade,
    id        text not null,
    viewer    text not null,
    what      text not null,
    subject   text not null,
    at        timestamptz not null,
    primary key (tenant_id, id)
);
select tenant_table('console_looks');
