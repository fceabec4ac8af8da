-- Follow-ups: asking people how something went that they told of before.

-- Whether a person wants them proposed. `noes`: those in a row, silence among them. The row is also the lock on all of a
-- person's follow-ups.
create table followup_choices (
    tenant_id    text primary key references tenants on delete cascade,
    is_off       boolean not null default false,
    noes         int not null default 0,
    paused_until timestamptz
);
select tenant_table('followup_choices');

-- One for each memory of something ahead, which has the words: none are here. `passed`: it was not proposed. `digest_at`
-- and `day`: of the digest that proposes it, by the person's clock. `ask_at`: when the person is asked, if they agree.
-- Without a reference to the memory: a forgotten one leaves its follow-up to be ended with its task.
create table followups (
    tenant_id  text not null references tenants on delete cascade,
    memory_id  text not null,
    number     bigint not null default 0,
    turn_id    text,
    state      text not null
               check (state in ('passed', 'proposed', 'kept', 'declined', 'unanswered', 'asked', 'over')),
    happens_at timestamptz not null,
    ask_at     timestamptz,
    digest_at  timestamptz,
    day        date,
    task_id    text,
    decided_in text,
    changed_at timestamptz not null,
    made_at    timestamptz not null,
    primary key (tenant_id, memory_id)
);
create index followups_open on followups (ask_at) where state in ('proposed', 'kept');
create index followups_made on followups (made_at);
select tenant_table('followups');
