-- What was done for a person and can be taken back for a while: by which tool, with which arguments (functions/undo.sql).

-- `id` is the call's, so that a repeat of its result stores nothing more. `open_until` is from the Clock. A record that
-- was taken back keeps its title until then, to say so. `taken_by`: the calls that began to take it back.
create table undo_records (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    turn_id     text not null,
    number      bigint not null,
    title       text not null,
    tool        text not null,
    arguments   jsonb not null,
    open_until  timestamptz not null,
    taken_by    text[] not null default '{}',
    undone      boolean not null default false,
    created_at  timestamptz not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index undo_records_number on undo_records (tenant_id, number desc);
create index undo_records_until on undo_records (open_until);
select tenant_table('undo_records');
