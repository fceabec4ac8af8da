-- Calls of models that a person's quiet hours spared on a day, by the work that would have made them.
create table spared_calls (
    tenant_id text not null references tenants on delete cascade,
    day       date not null,
    work      text not null,
    calls     bigint not null check (calls > 0),
    primary key (tenant_id, day, work)
);
create index spared_calls_day on spared_calls (day);
select tenant_table('spared_calls');
