-- Prepared to be divided: what must be unique over all people stands apart from people's rows.

-- Whose an address is: the one key over all people. Functions that look across tenants read it, and nobody else; the
-- trigger on identities keeps it (functions/directory.sql).
create table directory (
    channel     text not null,
    account     text not null,
    user_key    text not null,
    person      text not null,
    identity_id text not null,
    primary key (channel, account, user_key)
);
alter table directory enable row level security;
alter table directory force row level security;
create policy owner on directory to current_user using (true) with check (true);

-- Until this commits nobody adds an address that the copy would miss.
lock table identities in share row exclusive mode;
insert into directory (channel, account, user_key, person, identity_id)
select channel, account, user_key, tenant_id, id from identities;
create function note_address()
returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if tg_op <> 'INSERT' then
        delete from directory d
        where d.channel = old.channel and d.account = old.account and d.user_key = old.user_key;
    end if;
    if tg_op <> 'DELETE' then
        insert into directory (channel, account, user_key, person, identity_id)
        values (new.channel, new.account, new.user_key, new.tenant_id, new.id);
    end if;
    return null;
end $$;
create trigger identities_directory
    after insert or delete or update of tenant_id, id, channel, account, user_key on identities
    for each row execute function note_address();
alter table identities drop constraint identities_channel_account_user_key_key;

-- The keys of a message are its person's. The functions of the release before serve until those of this one are
-- applied, a moment later: their insert may no longer name the former key.
alter table inbox_keys drop constraint inbox_keys_pkey, add primary key (tenant_id, channel, account, key);
do $$
declare
    v_source text;
begin
    for v_source in select pg_get_functiondef(p.oid) from pg_proc p
                    where p.pronamespace = current_schema()::regnamespace and p.proname = 'take_message' loop
        execute replace(v_source, 'inbox_keys (channel, account, key, tenant_id, inbound_id)
    select v.channel, v.account, k, v_tenant, v.id from unnest(v.keys) k order by k
    on conflict (channel, account, key) do nothing', 'inbox_keys (channel, account, key, tenant_id, inbound_id)
    select v.channel, v.account, k, v_tenant, v.id from unnest(v.keys) k order by k
    on conflict do nothing');
    end loop;
end $$;
