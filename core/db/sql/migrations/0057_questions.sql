-- Questions with buttons: what a waiting agent or tool asks, until it is answered once.

-- `agent_id` is the entry of the pool that asks, `name` the field that the answer is for; `choices` are the labels with the
-- values that they stand for. `answer` is what was answered, as it is shown. The entry ends before its questions do, so
-- there is no foreign key to it.
create table questions (
    tenant_id        text not null references tenants on delete cascade,
    id               text not null,
    turn_id          text not null,
    agent_id         text not null,
    name             text not null,
    choices          jsonb not null,
    skip             boolean not null,
    token            text not null unique,
    state            text not null default 'open',
    answer           text not null default '',
    answered_by      text not null default '',
    answered_channel text not null default '',
    answered_at      timestamptz,
    created_at       timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    check (state in ('open', 'chosen', 'skipped', 'closed', 'asked_again')),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index questions_turn on questions (tenant_id, turn_id);
create index questions_open on questions (tenant_id, agent_id) where state = 'open';
select tenant_table('questions');

-- The messages that show a question: one, and another where that was sent again.
create table question_cards (
    tenant_id   text not null references tenants on delete cascade,
    outbound_id text not null,
    question_id text not null,
    primary key (tenant_id, outbound_id),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade,
    foreign key (tenant_id, question_id) references questions on delete cascade
);
create index question_cards_question on question_cards (tenant_id, question_id);
select tenant_table('question_cards');
