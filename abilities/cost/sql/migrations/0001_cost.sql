-- Long answers by SMS, of which the person was asked first. `outbound_id`: the question, whose row has the answer's text, and
-- its beginning as further portions. `segments`: of the whole answer. `until`: when it comes without a choice. `way`: what was
-- chosen, `lapsed` for no choice, `over` for a question that never went out; `chosen_by`: the turn that chose.
-- `link_hash`: the hash of the end of the link to it, which is stored nowhere.
create table held_answers (
    tenant_id   text not null references tenants on delete cascade,
    outbound_id text not null,
    segments    int not null check (segments > 0),
    asked_at    timestamptz not null,
    until       timestamptz not null,
    way         text not null default '' check (way in ('', 'send', 'short', 'read', 'chat', 'lapsed', 'over')),
    chosen_by   text,
    link_hash   bytea,
    link_until  timestamptz,
    primary key (tenant_id, outbound_id),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade
);
create index held_answers_until on held_answers (until) where way = '';
create index held_answers_by_link on held_answers (link_hash) where link_hash is not null;
select tenant_table('held_answers');

-- From how many segments on a person wants to be asked, where it is fewer than the operator's.
create table answer_limits (
    tenant_id text not null references tenants on delete cascade,
    segments  int not null check (segments > 0),
    primary key (tenant_id)
);
select tenant_table('answer_limits');
