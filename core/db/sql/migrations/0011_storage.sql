-- What tools store for a person: JSON values by key, in collections, of one tenant only.

-- last_number only rises, so that a number that the person was told never comes to mean something else.
create table stored_collections (
    tenant_id   text not null references tenants on delete cascade,
    name        text not null check (length(name) between 1 and 200),
    last_number bigint not null default 0,
    primary key (tenant_id, name)
);
select tenant_table('stored_collections');

create table stored_values (
    tenant_id   text not null,
    collection  text not null,
    key         text not null check (length(key) between 1 and 200),
    number      bigint not null,
    value       jsonb not null,
    created_at  timestamptz not null default clock_timestamp(),
    primary key (tenant_id, collection, key),
    unique (tenant_id, collection, number),
    foreign key (tenant_id, collection) references stored_collections on delete cascade
);
select tenant_table('stored_values');
