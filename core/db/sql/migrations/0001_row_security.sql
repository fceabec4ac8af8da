-- Promise 11: the database itself separates tenants. The serving role sees one tenant's rows, and none while no tenant
-- is set. The migrating role owns the functions that look across tenants (they return ids only); it has a policy of its
-- own, because FORCE binds owners too.

do $$
begin
    execute format('grant usage on schema %I to onevalet_app', current_schema());
end $$;

-- Call it for each table with rows of tenants, after creating the table. Such a table has tenant_id and refers to
-- others by (tenant_id, id); core/people/tenant_tables.py lists them all.
create function tenant_table(p_table text)
returns void
language plpgsql as $body$
declare
    v_key text;
begin
    execute format($$
        alter table %1$I enable row level security;
        alter table %1$I force row level security;
        create policy owner on %1$I to current_user using (true) with check (true);
        create policy one_tenant on %1$I to onevalet_app
            using (tenant_id = nullif(current_setting('onevalet.tenant', true), ''))
            with check (tenant_id = nullif(current_setting('onevalet.tenant', true), ''));
        grant select, insert, update, delete on %1$I to onevalet_app;
    $$, p_table);
    -- merge_people moves one person's rows table by table, so keys are checked at its end.
    for v_key in select k.conname from pg_constraint k where k.conrelid = p_table::regclass and k.contype = 'f' loop
        execute format('alter table %I alter constraint %I deferrable initially immediate', p_table, v_key);
    end loop;
end $body$;

-- The same for a table without tenants' data: provider keys with a reason, one row for each account of ours.
create function shared_table(p_table text, p_rights text)
returns void
language plpgsql as $body$
begin
    execute format($$
        alter table %1$I enable row level security;
        alter table %1$I force row level security;
        create policy nobodys on %1$I using (true) with check (true);
        grant %2$s on %1$I to onevalet_app;
    $$, p_table, p_rights);
end $body$;

alter table schema_migrations enable row level security;
alter table schema_migrations force row level security;
create policy owner on schema_migrations to current_user using (true) with check (true);
create policy nobodys on schema_migrations for select using (true);
grant select on schema_migrations to onevalet_app;

alter table schema_functions enable row level security;
alter table schema_functions force row level security;
create policy owner on schema_functions to current_user using (true) with check (true);
create policy nobodys on schema_functions for select using (true);
grant select on schema_functions to onevalet_app;
