-- A request for approval that needs a second person's consent, among the rows of the one who asks. Committed with the
-- request, and until the second person's card stands in their own chat, with what that shows.
create table joint_consents (
    tenant_id   text not null references tenants on delete cascade,
    approval_id text not null,
    other_id    text not null,
    -- How each knows the other. `from_name` is written when the other is asked.
    other_name  text not null,
    from_name   text not null default '',
    summary     text not null,
    shown       jsonb not null,
    form        jsonb not null,
    -- asking: the other has no card yet; asked; agreed: they said yes; used: both did, and it runs; ending: it is void, and
    -- the other is still to be told; ended.
    state       text not null default 'asking'
        check (state in ('asking', 'asked', 'agreed', 'used', 'ending', 'ended')),
    -- Why it is void.
    reason      text not null default '',
    -- The approval in the other's own rows, and their consent as receipts show it.
    second_id   text not null,
    agreed      jsonb,
    made_at     timestamptz not null,
    primary key (tenant_id, approval_id),
    foreign key (tenant_id, approval_id) references approvals on delete cascade deferrable
);
create index joint_consents_open on joint_consents (made_at) where state <> 'ended';
create index joint_consents_made on joint_consents (tenant_id, other_id, made_at);
select tenant_table('joint_consents');
