-- What is the router's own, besides the wrappers that operations/partitions/router.py makes. `partitions` and the foreign server `people`
-- are there before.

create schema routed;

-- Addresses whose person is elsewhere than where their hash leads: people who were moved.
create table directory (
    channel   text not null,
    account   text not null,
    user_key  text not null,
    partition int not null references partitions,
    primary key (channel, account, user_key)
);

-- What `web` looks into before it says that it is ready. What stalls is told by the partitions' own workers.
create table schema_migrations (number int primary key);
create table channel_state (channel text, owner text, lease_until timestamptz, poll_problem text);
create view worker_health as select clock_timestamp() as seen_at;
create function console_oldest(out waiting timestamptz, out to_send timestamptz)
language sql as $$
    select null::timestamptz, null::timestamptz
$$;
create function is_halted()
returns boolean
language sql as $$
    select false
$$;
create function routed.known_halts(p_partition int)
returns jsonb
language plproxy as $$
    cluster 'people';
    run on p_partition;
    select known_halts();
$$;

-- Returns what a partition knows of halts: the others' workers follow it.
create function halts_of(p_partition int)
returns jsonb
language plpgsql as $$
begin
    return routed.known_halts(p_partition);
exception when others then
    perform raise_again(sqlerrm, sqlstate);
end $$;

create function probe_write()
returns void
language sql as $$
$$;

-- Returns a partition for a name, the same one each time. The number of partitions is a power of two.
create function partition_by(p_name text)
returns int
language sql stable as $$
    select ('x' || left(md5(coalesce(p_name, '')), 7))::bit(28)::int & (select count(*)::int - 1 from partitions)
$$;

-- Returns where the person of an address is, or where one who writes from it for the first time is to be.
create function partition_at(p_channel text, p_account text, p_user_key text)
returns int
language sql stable as $$
    select coalesce(
        (select d.partition from directory d
         where d.channel = p_channel and d.account = p_account and d.user_key = p_user_key),
        partition_by(concat_ws(chr(31), p_channel, p_account, p_user_key)))
$$;

create function partition_at_arrival(p_arrival jsonb)
returns int
language sql stable as $$
    select partition_at(p_arrival ->> 'channel', p_arrival ->> 'account', p_arrival ->> 'user_key')
$$;

-- Returns the partition that an id or a token names. One that there is not is somebody's guess, which any can refuse.
create function partition_of(p_name text)
returns int
language sql stable as $$
    select coalesce((select number from partitions where p_name ~ '^[0-9]{2}[.]' and number = left(p_name, 2)::int), 0)
$$;

-- Says of a partition that is away what Postgres would say of itself, so that callers try again, and then answer 503.
create function raise_again(p_message text, p_state text)
returns void
language plpgsql as $$
begin
    if p_state = 'XX000' and p_message ~ '^PL/Proxy function [^:]*: \[' then
        raise exception 'a partition is away' using errcode = 'cannot_connect_now';
    end if;
    raise exception using message = p_message, errcode = p_state;
end $$;

-- Receives messages of several people at once, each in their partition, each partition in a transaction of its own.
create function routed.receive_messages(
    p_partition int, p_arrivals jsonb, p_of_person int, p_of_all int, p_wait boolean)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, refused jsonb, busy boolean,
               interrupts boolean)
language plproxy as $$
    cluster 'people';
    run on p_partition;
    select * from receive_messages(p_arrivals, p_of_person, p_of_all, p_wait);
$$;

-- Messages of a partition that is away are `busy`: not written, and tried alone, so that the others wait for none.
create function receive_messages(p_arrivals jsonb, p_of_person int, p_of_all int, p_wait boolean)
returns table (inbound_id text, duplicate boolean, tenant_id text, lane_id text, refused jsonb, busy boolean,
               interrupts boolean)
language plpgsql as $$
declare
    v_part record;
    v_rows jsonb := '[]';
    v_some jsonb;
begin
    for v_part in
        select a.partition, array_agg(a.place order by a.place) as places,
               jsonb_agg(a.arrival order by a.place) as arrivals
        from (select x.arrival, x.place, partition_at_arrival(x.arrival) as partition
              from jsonb_array_elements(p_arrivals) with ordinality x(arrival, place)) a
        group by a.partition order by a.partition
    loop
        begin
            select jsonb_agg(to_jsonb(r) || jsonb_build_object('place', v_part.places[r.number]))
            into v_some
            from routed.receive_messages(v_part.partition, v_part.arrivals, p_of_person, p_of_all, p_wait)
                with ordinality r(inbound_id, duplicate, tenant_id, lane_id, refused, busy, interrupts, number);
        exception when others then
            if p_wait or sqlstate <> 'XX000' then
                perform raise_again(sqlerrm, sqlstate);
            end if;
            select jsonb_agg(jsonb_build_object('place', p, 'busy', true, 'duplicate', false)) into v_some
            from unnest(v_part.places) p;
        end;
        v_rows := v_rows || v_some;
    end loop;
    return query
        select r.inbound_id, r.duplicate, r.tenant_id, r.lane_id, nullif(r.refused, 'null'), r.busy, r.interrupts
        from jsonb_to_recordset(v_rows) r(place int, inbound_id text, duplicate boolean, tenant_id text, lane_id text,
                                          refused jsonb, busy boolean, interrupts boolean)
        order by r.place;
end $$;

-- To link two people is one transaction over both, who may be in two partitions: through the router a code counts for
-- nothing, and what says it is a stranger's message.
create function link_stranger(
    p_arrival jsonb, p_code_hash bytea, p_agreed boolean, p_now timestamptz, p_limit_of_sender int, p_window interval)
returns table (outcome text, tenant_id text, identity_id text, conversation_id text)
language sql as $$
    select 'wrong', null::text, null::text, null::text
$$;
