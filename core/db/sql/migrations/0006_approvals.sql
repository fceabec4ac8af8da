-- Approvals: requests for consent to one exact action each, decided once (promises 9 and 10).
--
-- What was asked is bound by a hash over canonical JSON of approver, arguments, expiry, tenant and tool. The
-- expiry is known when the card is sent, and stands in the middle: the text before and after it is kept.
create table approvals (
    tenant_id       text not null references tenants on delete cascade,
    id              text not null,
    turn_id         text not null,
    -- The call within the turn: its agent path with step and index, or an agent's path with its run.
    place           text not null,
    generation      int not null,
    conversation_id text not null,
    name            text not null,
    summary         text not null,
    arguments       jsonb not null,
    -- What the card shows, as [label, text] pairs, and what a form may change (core.messaging.messages.FormField).
    shown           jsonb not null,
    form            jsonb not null default '[]',
    editable        boolean not null default true,
    risk            text not null default '',
    source          text not null default 'message',
    code            text not null,
    token           text not null,
    timeout         interval not null,
    sealed_head     text not null,
    sealed_tail     text not null,
    hash            text not null default '',
    expires_at      timestamptz,
    state           text not null default 'pending',
    reason          text not null default '',
    -- The changes that the person wants: field names with new values. The approval is "replaced" by then.
    proposed        jsonb,
    decided_at      timestamptz,
    decided_by      text not null default '',
    decided_channel text not null default '',
    decided_how     text not null default '',
    -- The message that decided, or the operator's own id of the decision: who repeats it finds that it was theirs.
    decided_in      text not null default '',
    confirm_hash    bytea,
    confirm_until   timestamptz,
    confirm_tries   int not null default 0,
    confirm_sent    int not null default 0,
    remind_at       timestamptz,
    ran_at          timestamptz,
    created_at      timestamptz not null,
    primary key (tenant_id, id),
    unique (token),
    check (state in ('pending', 'approved', 'cancelled', 'expired', 'replaced')),
    check ((expires_at is null) = (hash = '')),
    foreign key (tenant_id, turn_id) references turns on delete cascade
);
create index approvals_turn on approvals (tenant_id, turn_id);
create unique index approvals_code on approvals (tenant_id, code) where state = 'pending';
create index approvals_due on approvals (least(expires_at, remind_at)) where state = 'pending';
create index approvals_unsent on approvals (created_at) where state = 'pending' and expires_at is null;
select tenant_table('approvals');

-- A code is not issued again for a while: a late "OK 7K" must not meet another action.
create table approval_codes (
    tenant_id text not null references tenants on delete cascade,
    code      text not null,
    holder    text not null,
    issued_at timestamptz not null,
    primary key (tenant_id, code)
);
select tenant_table('approval_codes');

create table approval_audit (
    tenant_id   text not null references tenants on delete cascade,
    id          bigint generated always as identity,
    approval_id text not null,
    at          timestamptz not null,
    what        text not null,
    hash        text not null default '',
    identity_id text not null default '',
    channel     text not null default '',
    how         text not null default '',
    detail      jsonb not null default '{}',
    primary key (tenant_id, id),
    check (what in ('requested', 'sent', 'approved', 'cancelled', 'replaced', 'expired', 'ran', 'refused', 'confirm',
                    'reminded', 'snoozed', 'reissued'))
);
create index approval_audit_approval on approval_audit (tenant_id, approval_id);
select tenant_table('approval_audit');
revoke update, delete on approval_audit from onevalet_app;

-- `role`: a card shows all of the approval; a prompt asks for what to change; a number proves possession of a phone.
create table approval_cards (
    tenant_id   text not null references tenants on delete cascade,
    outbound_id text not null,
    approval_id text not null,
    role        text not null default 'card',
    primary key (tenant_id, outbound_id),
    check (role in ('card', 'prompt', 'number')),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade,
    foreign key (tenant_id, approval_id) references approvals on delete cascade
);
create index approval_cards_approval on approval_cards (tenant_id, approval_id);
select tenant_table('approval_cards');

create table redraws (
    tenant_id       text not null references tenants on delete cascade,
    outbound_id     text not null,
    outcome         text not null,
    state           text not null default 'due',
    reason          text not null default '',
    attempts        int not null default 0,
    next_attempt_at timestamptz not null default clock_timestamp(),
    lease_until     timestamptz,
    fence           bigint not null default 0,
    drawn_at        timestamptz,
    primary key (tenant_id, outbound_id),
    check (state in ('due', 'drawn', 'given_up')),
    foreign key (tenant_id, outbound_id) references outbound on delete cascade
);
create index redraws_due on redraws (next_attempt_at) where state = 'due';
select tenant_table('redraws');
