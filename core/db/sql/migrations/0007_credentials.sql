-- People's credentials, sealed by the application: the database never sees a key or a secret in clear.

-- A tenant's data key, wrapped under the operator's secret key that secret_key_id names.
create table data_keys (
    tenant_id     text not null references tenants on delete cascade,
    version       int not null check (version > 0),
    secret_key_id text not null,
    wrapped       bytea not null,
    created_at    timestamptz not null default clock_timestamp(),
    primary key (tenant_id, version)
);
select tenant_table('data_keys');

-- credentials_json: the JSON object, sealed under the data key of key_version for exactly this row.
create table credentials (
    tenant_id        text not null,
    service          text not null check (length(service) between 1 and 200),
    account_name     text not null check (length(account_name) between 1 and 200),
    key_version      int not null,
    credentials_json bytea not null,
    preferred        boolean not null default false,
    created_at       timestamptz not null default clock_timestamp(),
    updated_at       timestamptz not null default clock_timestamp(),
    primary key (tenant_id, service, account_name),
    foreign key (tenant_id, key_version) references data_keys on delete cascade
);
create unique index credentials_preferred on credentials (tenant_id, service) where preferred;
select tenant_table('credentials');
