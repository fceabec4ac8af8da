-- Which migrations of abilities were applied: each ability numbers its own.
create table schema_ability_migrations (
    ability    text not null,
    number     int not null,
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default clock_timestamp(),
    primary key (ability, number)
);
alter table schema_ability_migrations enable row level security;
alter table schema_ability_migrations force row level security;
create policy owner on schema_ability_migrations to current_user using (true) with check (true);
create policy nobodys on schema_ability_migrations for select using (true);
grant select on schema_ability_migrations to onevalet_app;
