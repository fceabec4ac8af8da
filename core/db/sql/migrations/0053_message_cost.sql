-- What messages cost: the rest of a long answer, kept until the person asks for it, and billed segments by the day.

-- What comes after the first portion: an array of portions, each an array of parts as `keep_parts` takes them.
alter table outbound add column rest jsonb not null default '[]';

-- Keeps the rendering of the first attempt, with what the person has to ask for.
create function keep_parts(p_tenant text, p_outbound text, p_fence bigint, p_parts jsonb, p_rest jsonb)
returns setof outbound_parts
language plpgsql as $$
begin
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    update outbound o set rest = p_rest
    where o.tenant_id = p_tenant and o.id = p_outbound
      and not exists (select 1 from outbound_parts e where e.tenant_id = p_tenant and e.outbound_id = p_outbound);
    return query select * from keep_parts(p_tenant, p_outbound, p_fence, p_parts);
end $$;

-- Owes the next portion of the last answer of a conversation. False where nothing is kept of it, or only what is
-- older than p_within. A turn that asks again, since it was taken over, has its portion already.
create function say_more(p_tenant text, p_conversation text, p_turn text, p_outbound text, p_within interval)
returns boolean
language plpgsql as $$
declare
    v_last outbound%rowtype;
    v_text text;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    perform 1 from conversations c where c.tenant_id = p_tenant and c.id = p_conversation for update;
    if exists (select 1 from outbound o where o.tenant_id = p_tenant and o.conversation_id = p_conversation
               and o.turn_id = p_turn and o.kind = 'reply') then
        return true;
    end if;
    select o.* into v_last from outbound o
    where o.tenant_id = p_tenant and o.conversation_id = p_conversation and o.kind = 'reply' and o.seq is not null
    order by o.seq desc limit 1;
    if v_last.id is null or v_last.rest = '[]' or v_last.created_at < clock_timestamp() - p_within then
        return false;
    end if;
    select string_agg(v.value ->> 'text', E'\n' order by (v.value ->> 'part')::int) into v_text
    from jsonb_array_elements(v_last.rest -> 0) v;
    perform owe(p_tenant, p_conversation, p_turn,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', v_text)));
    insert into outbound_parts (tenant_id, outbound_id, part, ref, text, data, segments)
    select p_tenant, p_outbound, (v.value ->> 'part')::int, v.value ->> 'ref', v.value ->> 'text',
           v.value -> 'data', (v.value ->> 'segments')::int
    from jsonb_array_elements(v_last.rest -> 0) v;
    update outbound o set rest = case when o.id = p_outbound then v_last.rest - 0 else '[]' end
    where o.tenant_id = p_tenant and o.id in (p_outbound, v_last.id);
    return true;
end $$;

-- Segments that were about to be sent to one person, by the person's own day; `told`: that there are no more today.
create table segment_days (
    tenant_id text not null references tenants on delete cascade,
    day       date not null,
    segments  int not null default 0 check (segments >= 0),
    told      boolean not null default false,
    primary key (tenant_id, day)
);
alter table segment_days enable row level security;
alter table segment_days force row level security;
create policy one_tenant on segment_days to onevalet_app
    using (tenant_id = nullif(current_setting('onevalet.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('onevalet.tenant', true), ''));
create policy owner on segment_days to current_user using (true) with check (true);
grant select, insert, update, delete on segment_days to onevalet_app;

-- The same of all people, by the day in UTC, and how many messages were not sent for it.
create table segments_of_all (
    day      date primary key,
    segments int not null default 0 check (segments >= 0),
    refused  int not null default 0
);
alter table segments_of_all enable row level security;
alter table segments_of_all force row level security;
create policy nobodys on segments_of_all using (true) with check (true);
grant select, insert, update, delete on segments_of_all to onevalet_app;

-- Counts segments of all people unless they pass the limit; the row's lock makes it exact under any number of workers.
create function take_segments_of_all(p_day date, p_segments int, p_most int)
returns boolean
language plpgsql as $$
begin
    insert into segments_of_all as s (day) values (p_day) on conflict (day) do nothing;
    update segments_of_all s set segments = s.segments + p_segments
    where s.day = p_day and s.segments + p_segments <= p_most;
    if found then
        return true;
    end if;
    update segments_of_all s set refused = s.refused + 1 where s.day = p_day;
    return false;
end $$;

-- Ends a message that may cost nothing more here: it goes to another place of the person's where there is one, and
-- the person is told once a day, by p_moved or by p_over.
create function end_unpaid(
    p_tenant text, p_outbound text, p_fence bigint, p_day date, p_why text, p_over text, p_moved text,
    p_notice text, p_copy text)
returns void
language plpgsql as $$
declare
    v_row outbound%rowtype;
    v_other text;
    v_shows text;
    v_first boolean;
begin
    select o.* into v_row from outbound o where o.tenant_id = p_tenant and o.id = p_outbound;
    select other_conversation(p_tenant, c.channel) into v_other from conversations c
    where c.tenant_id = p_tenant and c.id = v_row.conversation_id;
    select k.approval_id into v_shows from approval_cards k
    where k.tenant_id = p_tenant and k.outbound_id = p_outbound;
    if v_other is not null then
        perform owe(p_tenant, v_other, v_row.turn_id, jsonb_build_array(jsonb_build_object(
            'id', p_copy, 'kind', v_row.kind, 'text', v_row.text, 'actions', v_row.actions, 'media', v_row.media,
            'shows', coalesce(v_shows, ''))));
    end if;
    perform fail_outbound(p_tenant, p_outbound, p_fence,
                          p_why || case when v_other is null then '' else '; sent to another place' end);
    update segment_days s set told = true where s.tenant_id = p_tenant and s.day = p_day and not s.told
    returning true into v_first;
    if v_first then
        perform owe(p_tenant, v_row.conversation_id, null, jsonb_build_array(jsonb_build_object(
            'id', p_notice, 'kind', 'notification', 'text', case when v_other is null then p_over else p_moved end)));
    end if;
end $$;

-- `begin_delivery` for what is billed: counts the part's segments with the attempt, in one transaction, so that each
-- call is counted once; a call that is made again costs again. Answers have three quarters of a day's segments, so
-- that cards, receipts and notifications have the last; `regardless` (what confirms a STOP) always goes, and counts.
-- Beside the words of `begin_delivery`: 'over_person' and 'over_all', where the message was ended instead.
create function begin_delivery(
    p_tenant text, p_outbound text, p_fence bigint, p_part int, p_attempt int, p_owner text, p_ttl interval,
    p_segments int, p_now timestamptz, p_most_of_person int, p_most_of_all int, p_over text, p_moved text,
    p_notice text, p_copy text)
returns text
language plpgsql as $$
declare
    v_kind text;
    v_regardless boolean;
    v_share numeric;
    v_day date;
    v_today int;
    v_begun text;
begin
    perform hold_outbound(p_tenant, p_outbound, p_fence);
    if exists (select 1 from deliveries d where d.tenant_id = p_tenant and d.outbound_id = p_outbound
               and d.part = p_part and d.attempt = p_attempt) then
        return begin_delivery(p_tenant, p_outbound, p_fence, p_part, p_attempt, p_owner, p_ttl);
    end if;
    select o.kind, o.regardless, (p_now at time zone coalesce(nullif(t.timezone, ''), 'UTC'))::date
    into v_kind, v_regardless, v_day
    from outbound o join tenants t on t.tenant_id = o.tenant_id where o.tenant_id = p_tenant and o.id = p_outbound;
    v_share := case when v_kind = 'reply' then 0.75 else 1 end;
    delete from segment_days s where s.tenant_id = p_tenant and s.day < v_day - 7;
    insert into segment_days (tenant_id, day) values (p_tenant, v_day) on conflict do nothing;
    select s.segments into v_today from segment_days s where s.tenant_id = p_tenant and s.day = v_day for update;
    if not v_regardless and v_today + p_segments > floor(p_most_of_person * v_share) then
        perform end_unpaid(p_tenant, p_outbound, p_fence, v_day, 'the day''s texts of this person are used up',
                           p_over, p_moved, p_notice, p_copy);
        return 'over_person';
    end if;
    v_begun := begin_delivery(p_tenant, p_outbound, p_fence, p_part, p_attempt, p_owner, p_ttl);
    if v_begun <> 'go' then
        return v_begun;
    end if;
    -- Last, since all people's texts wait for this row.
    if not take_segments_of_all((p_now at time zone 'UTC')::date, p_segments,
                                case when v_regardless then 2147483647 else floor(p_most_of_all * v_share)::int end)
    then
        update deliveries d set finished_at = clock_timestamp(), outcome = 'rejected'
        where d.tenant_id = p_tenant and d.outbound_id = p_outbound and d.part = p_part and d.attempt = p_attempt;
        perform end_unpaid(p_tenant, p_outbound, p_fence, v_day, 'the day''s texts of all people are used up',
                           p_over, p_moved, p_notice, p_copy);
        return 'over_all';
    end if;
    update segment_days s set segments = s.segments + p_segments where s.tenant_id = p_tenant and s.day = v_day;
    return 'go';
end $$;

do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname in ('keep_parts', 'say_more', 'take_segments_of_all', 'end_unpaid', 'begin_delivery')
    loop
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to onevalet_app', f);
    end loop;
end $$;
