-- Answers that are to be heard (functions/speech.sql).

-- A row for each answer that its person wants to hear: no text is here. `asked_in`: the turn of the word by which they
-- asked for this one, which is told if nothing comes of it; null where all answers of its kind are spoken. `tries`: how
-- often a recording was begun. `file_id`: the recording; `reason`: why there is none.
create table spoken_answers (
    tenant_id   text not null references tenants on delete cascade,
    outbound_id text not null,
    turn_id     text,
    asked_in    text,
    state       text not null default 'waiting' check (state in ('waiting', 'spoken', 'left_out', 'failed')),
    reason      text not null default '',
    tries       int not null default 0,
    owner       text,
    lease_until timestamptz,
    file_id     text,
    seconds     real,
    created_at  timestamptz not null default clock_timestamp(),
    ended_at    timestamptz,
    primary key (tenant_id, outbound_id),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade
);
create index spoken_answers_waiting on spoken_answers (created_at) where state = 'waiting';
create index spoken_answers_owner on spoken_answers (owner) where owner is not null;
create index spoken_answers_turn on spoken_answers (tenant_id, turn_id);
select tenant_table('spoken_answers');
