-- People's reactions to what they were told: a row for each message and emoji. `given`: it was not taken back since.
-- `liked` is null for an emoji that says neither. `at`: the provider's time of the last change, by which a change that
-- comes late is known.
create table feedback (
    tenant_id   text not null references tenants on delete cascade,
    outbound_id text not null,
    emoji       text not null check (length(emoji) between 1 and 300),
    given       boolean not null,
    liked       boolean,
    at          timestamptz not null,
    primary key (tenant_id, outbound_id, emoji),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade
);
create index feedback_at on feedback (at);
select tenant_table('feedback');
