-- New mail: which mailboxes are watched, who watches each, and how far it is read.

-- Watches a person's accounts while one of their tasks waits for mail. What comes from now on is new.
create function watch_mail(p_tenant text)
returns void
language plpgsql as $$
begin
    if wants_channel_event(p_tenant, 'mail', 'mail.received') then
        insert into mail_watches (tenant_id, service, account_name)
        select c.tenant_id, c.service, c.account_name from credentials c where c.tenant_id = p_tenant
        order by c.service, c.account_name
        on conflict do nothing;
    else
        perform from mail_watches w where w.tenant_id = p_tenant order by w.service, w.account_name for update;
        delete from mail_watches w where w.tenant_id = p_tenant;
    end if;
end $$;

create or replace function note_mail_wanted()
returns trigger
language plpgsql as $$
begin
    perform watch_mail(new.tenant_id);
    return null;
end $$;

create or replace trigger tasks_mail after insert on tasks
    for each row when (new.kind = 'event') execute function note_mail_wanted();

create or replace trigger tasks_mail_changed after update of tenant_id, state, trigger on tasks
    for each row when (new.kind = 'event' and (old.tenant_id, old.state, old.trigger)
                       is distinct from (new.tenant_id, new.state, new.trigger))
    execute function note_mail_wanted();

create or replace trigger credentials_mail after insert on credentials
    for each row execute function note_mail_wanted();

-- What is stored anew may open what the old did not: the watch begins again at once, where it was.
create or replace function note_credentials_changed()
returns trigger
language plpgsql as $$
begin
    update mail_watches w
    set revision = w.revision + 1, changed_at = clock_timestamp(), ended = false, failures = 0, problem = '',
        next_attempt_at = clock_timestamp()
    where w.tenant_id = new.tenant_id and w.service = new.service and w.account_name = new.account_name;
    return null;
end $$;

create or replace trigger credentials_changed after update of credentials_json on credentials
    for each row when (old.tenant_id = new.tenant_id) execute function note_credentials_changed();

-- Claims mailboxes that nobody watches; ids only. Materialized: see claim_next_event.
create function claim_mail_watches(p_owner text, p_ttl interval, p_limit int)
returns table (tenant_id text, watch_id text, revision int)
language sql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    with f as materialized (
        select f.id from mail_watches f
        where not f.ended and greatest(f.next_attempt_at, f.lease_until) <= clock_timestamp() and not is_halted()
        order by greatest(f.next_attempt_at, f.lease_until) limit p_limit for update skip locked),
    claimed as (
        update mail_watches w set owner = p_owner, lease_until = clock_timestamp() + p_ttl
        from f
        where w.id = f.id
        returning w.tenant_id, w.id, w.revision, w.next_attempt_at)
    select c.tenant_id, c.id, c.revision from claimed c order by c.next_attempt_at
$$;

-- Renews a worker's leases; returns what it still holds, ids only.
create function keep_mail_watches(p_owner text, p_ttl interval)
returns table (tenant_id text, watch_id text, revision int)
language sql security definer set search_path = public, pg_temp as $$
    with f as materialized (
        select f.id from mail_watches f where f.owner = p_owner
        order by f.tenant_id, f.service, f.account_name for update)
    update mail_watches w set lease_until = clock_timestamp() + p_ttl
    from f
    where w.id = f.id
    returning w.tenant_id, w.id, w.revision
$$;

-- Lets other workers take what a worker watched.
create function leave_mail_watches(p_owner text)
returns void
language sql security definer set search_path = public, pg_temp as $$
    with f as materialized (
        select f.id from mail_watches f where f.owner = p_owner
        order by f.tenant_id, f.service, f.account_name for update)
    update mail_watches w set owner = null, lease_until = null
    from f
    where w.id = f.id
$$;

-- Stores new mail as events together with the position behind it, all or nothing; returns the groups that want each new
-- event. A repeat adds nothing. p_events: [{id, data, occurred_at}]. p_whole: the mailbox is read to its end.
create function take_mail(
    p_tenant text, p_watch text, p_owner text, p_mailbox text, p_uid_validity bigint, p_last_uid bigint,
    p_whole boolean, p_events jsonb)
returns table (event_id text, groups text[])
language plpgsql as $$
declare
    v_event jsonb;
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update mail_watches w
    set mailbox = p_mailbox, uid_validity = p_uid_validity, last_uid = p_last_uid,
        read_at = case when p_whole then clock_timestamp() else w.read_at end,
        mail_at = case when p_events <> '[]' then clock_timestamp() else w.mail_at end, failures = 0, problem = ''
    where w.tenant_id = p_tenant and w.id = p_watch and w.owner = p_owner;
    if not found then
        raise exception 'the watch of this mailbox is another worker''s' using errcode = 'OV001';
    end if;
    for v_event in
        select e.value from jsonb_array_elements(p_events) e
        -- What we wrote to the person ourselves is no news to them, and would go round in circles.
        where not exists (select from outbound_parts d where d.tenant_id = p_tenant
                          and (d.ref = split_part(e.value -> 'data' ->> 'message_id', '@', 1)
                               or d.provider_id = '<' || nullif(e.value -> 'data' ->> 'message_id', '') || '>'))
    loop
        event_id := v_event ->> 'id';
        groups := publish_event(p_tenant, 'mail', event_id, '', 'mail.received', v_event -> 'data',
                                (v_event ->> 'occurred_at')::timestamptz);
        if groups is not null then
            return next;
        end if;
    end loop;
end $$;

-- Gives a mailbox back after a failure: it is tried again after p_delay, or, where it has ended, when something else is
-- stored for its account than p_revision, which was tried. p_refused: the server does not accept what is stored.
create function fail_mail_watch(
    p_tenant text, p_watch text, p_owner text, p_revision int, p_delay interval, p_problem text, p_ended boolean,
    p_refused boolean)
returns void
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    update mail_watches w
    set failures = w.failures + 1, next_attempt_at = clock_timestamp() + p_delay,
        -- An account whose grant was revoked has its mailbox still.
        problem = case when p_problem = 'no_mailbox' and c.revoked_at is not null then 'login' else p_problem end,
        ended = p_ended and w.revision = p_revision, owner = null, lease_until = null
    from credentials c
    where w.tenant_id = p_tenant and w.id = p_watch and w.owner = p_owner
      and c.tenant_id = w.tenant_id and c.service = w.service and c.account_name = w.account_name;
    update credentials c set revoked_at = clock_timestamp(), attend_at = clock_timestamp()
    from mail_watches w
    where p_refused and c.revoked_at is null and w.tenant_id = p_tenant and w.id = p_watch and w.revision = p_revision
      and c.tenant_id = w.tenant_id and c.service = w.service and c.account_name = w.account_name;
end $$;

-- Counts mailboxes by what is wrong with them, for `doctor`. An account without a mailbox is none.
create function count_mail_watches()
returns table (problem text, watched bigint, unwatched bigint, ended bigint)
language sql stable security definer set search_path = public, pg_temp as $$
    select w.problem, count(*) filter (where w.lease_until >= clock_timestamp()),
           count(*) filter (where not w.ended and (w.lease_until is null or w.lease_until < clock_timestamp())),
           count(*) filter (where w.ended)
    from mail_watches w where w.problem <> 'no_mailbox' group by w.problem order by w.problem
$$;
