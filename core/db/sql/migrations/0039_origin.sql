-- Whose words a message has: the person's own, forwarded ones, or a program's in their name.
alter table inbound add column origin text not null default 'own' check (origin in ('own', 'forwarded', 'via_bot'));

create function note_origin(p_tenant text, p_inbound text, p_origin text)
returns void
language plpgsql as $$
begin
    if p_origin = 'own' or p_tenant is null then
        return;
    end if;
    perform set_config('onevalet.tenant', p_tenant, true);
    update inbound i set origin = p_origin where i.tenant_id = p_tenant and i.id = p_inbound and i.state = 'waiting';
end $$;

-- As in 0018; but only the person's own words say something about them.
create or replace function read_profile_words(p_tenant text, p_turns text[])
returns table (turn_id text, text text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    return query select i.turn_id, i.text from inbound i
    where i.tenant_id = p_tenant and i.turn_id = any (p_turns) and i.command is null and i.text <> ''
      and i.origin = 'own'
    order by i.received_at, i.seq;
end $$;

do $$
begin
    revoke all on function note_origin(text, text, text) from public;
    grant execute on function note_origin(text, text, text) to onevalet_app;
end $$;
