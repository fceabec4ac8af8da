-- What people want to do each day. `remind_at` is by the clock in `zone`, `next_at` the moment of the next reminder.
create table habits (
    tenant_id text not null references tenants on delete cascade,
    name      text not null,
    id        text not null unique default gen_random_uuid()::text,
    zone      text not null,
    remind_at time,
    next_at   timestamptz,
    done_on   date,
    primary key (tenant_id, name)
);
create index habits_due on habits (next_at) where next_at is not null;
select tenant_table('habits');
