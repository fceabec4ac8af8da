-- Promise 11: tenants are apart in the database itself. The role that serves sees one tenant's rows, and
-- none while no tenant is set; the migrating role, which owns the functions that look across tenants
-- (they return ids only), is let through by a policy of its own, because FORCE binds owners too.

do $$
declare
    name text;
begin
    execute format('grant usage on schema %I to onevalet_app', current_schema());
    for name in
        select c.table_name
        from information_schema.columns c
        join information_schema.tables t using (table_schema, table_name)
        where c.table_schema = current_schema() and c.column_name = 'tenant_id' and t.table_type = 'BASE TABLE'
    loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy one_tenant on %I to onevalet_app '
            'using (tenant_id = nullif(current_setting(''onevalet.tenant'', true), '''')) '
            'with check (tenant_id = nullif(current_setting(''onevalet.tenant'', true), ''''))', name);
        execute format('create policy owner on %I to current_user using (true) with check (true)', name);
        execute format('grant select, insert, update, delete on %I to onevalet_app', name);
    end loop;
end $$;

-- These hold no tenant's data: provider keys with a reason, and one row per account of ours.
alter table ignored_messages enable row level security;
alter table ignored_messages force row level security;
create policy nobodys on ignored_messages using (true) with check (true);
grant select, insert on ignored_messages to onevalet_app;

alter table channel_state enable row level security;
alter table channel_state force row level security;
create policy nobodys on channel_state using (true) with check (true);
grant select, insert, update on channel_state to onevalet_app;

alter table schema_migrations enable row level security;
alter table schema_migrations force row level security;
create policy nobodys on schema_migrations for select using (true);
create policy owner on schema_migrations to current_user using (true) with check (true);
grant select on schema_migrations to onevalet_app;

-- Functions, these and those of later migrations, are for the serving role only.
alter default privileges revoke execute on functions from public;
alter default privileges grant execute on functions to onevalet_app;
