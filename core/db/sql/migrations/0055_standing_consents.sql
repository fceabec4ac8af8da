-- Standing consent: a person agrees once to calls of one narrow shape, for a while and so many times.

-- `sealed` is the canonical JSON of all that was agreed to, `hash` its SHA-256; the other columns repeat what statements
-- need of it. `number` is what people call it. It has no foreign key to the turn: it outlives that.
create table standing_consents (
    tenant_id   text not null references tenants on delete cascade,
    id          text not null,
    number      bigint not null,
    turn_id     text not null,
    approval_id text not null,
    name        text not null,
    sealed      text not null,
    hash        text not null,
    told        text not null check (told in ('at once', 'digest')),
    max_uses    int not null check (max_uses > 0),
    used        int not null default 0,
    expires_at  timestamptz not null,
    state       text not null default 'active' check (state in ('active', 'ended')),
    reason      text not null default '',
    ended_at    timestamptz,
    created_at  timestamptz not null,
    primary key (tenant_id, id),
    check (used between 0 and max_uses)
);
create index standing_consents_number on standing_consents (tenant_id, number desc);
create index standing_consents_end on standing_consents (expires_at) where state = 'active';
select tenant_table('standing_consents');

-- One row for each call that ran by it: a call that is repeated after a crash finds its own.
create table consent_uses (
    tenant_id      text not null references tenants on delete cascade,
    id             text not null,
    consent_id     text not null,
    turn_id        text not null,
    call_id        text not null,
    arguments_hash text not null,
    number         int not null,
    outcome        text not null default '',
    at             timestamptz not null,
    primary key (tenant_id, id),
    unique (tenant_id, turn_id, call_id),
    unique (tenant_id, consent_id, number),
    foreign key (tenant_id, consent_id) references standing_consents on delete cascade
);
select tenant_table('consent_uses');

alter table approval_audit drop constraint approval_audit_what_check;
alter table approval_audit add constraint approval_audit_what_check
    check (what in ('requested', 'sent', 'approved', 'cancelled', 'replaced', 'expired', 'ran', 'refused', 'confirm',
                    'reminded', 'snoozed', 'reissued', 'granted', 'used', 'ended'));
