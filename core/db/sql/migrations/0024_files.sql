-- Files that people sent: what is known of each in rows, the bytes in the store of files under `key` (functions/files.sql).

-- `id` is the beginning of the content's hash, so that the same file is one row however often a person sends it.
-- `sha256` is of what was sent; of a picture only a smaller copy without its place is kept. `storing`: the bytes are
-- perhaps not there yet.
create table files (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    sha256      text not null,
    key         text not null,
    kind        text not null,
    content_type text not null,
    name        text not null default '',
    state       text not null default 'storing' check (state in ('storing', 'kept')),
    size        bigint not null,
    pages       jsonb not null default '[]',
    page_count  int not null default 0,
    cut         boolean not null default false,
    caption     text not null default '',
    created_at  timestamptz not null,
    used_at     timestamptz not null,
    primary key (tenant_id, id)
);
create index files_used on files (used_at);
select tenant_table('files');

-- What became of each file of a message: `file_id`, or why there is none.
create table inbound_files (
    tenant_id   text not null,
    inbound_id  text not null,
    number      int not null,
    file_id     text,
    failure     text,
    primary key (tenant_id, inbound_id, number),
    foreign key (tenant_id, inbound_id) references inbound on delete cascade
);
select tenant_table('inbound_files');

-- Bytes that no row names any more, until a worker has deleted them.
create table file_deletions (
    key         text primary key,
    deleted_at  timestamptz not null default clock_timestamp()
);
select shared_table('file_deletions', 'select, insert, delete');
