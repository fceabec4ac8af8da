-- A household is a tenant of its own, so what its members share is kept from everybody else by the policy that keeps
-- people apart. Who is in it stands in each member's own row, of which nobody has two.
create table household_members (
    tenant_id    text not null unique references tenants on delete cascade,
    household_id text not null,
    role         text not null check (role in ('owner', 'adult', 'child')),
    joined_at    timestamptz not null,
    -- The tier that a child was given, and the one before: an adult's word gives that back, the child's own does not.
    tier_given   text not null default '',
    tier_before  text not null default '',
    primary key (tenant_id, household_id)
);
create index household_members_of on household_members (household_id, joined_at);
select tenant_table('household_members');

-- Codes that a member was given for somebody else, as hashes, among the household's rows. Times are from the Clock.
create table household_invitations (
    tenant_id  text not null references tenants on delete cascade,
    code_hash  bytea not null unique,
    invited_by text not null,
    role       text not null check (role in ('adult', 'child')),
    key        text not null,
    made_at    timestamptz not null,
    expires_at timestamptz not null,
    used_at    timestamptz,
    -- Who was asked whether they want to join, and the turn that asked: an answer counts only from them, and only later.
    asked      text not null default '',
    asked_by   text not null default '',
    primary key (tenant_id, code_hash)
);
select tenant_table('household_invitations');

-- What a person did about a household, and the answer, under the key of the call: a repeat finds it and does nothing.
create table household_deeds (
    tenant_id text not null references tenants on delete cascade,
    key       text not null,
    answer    jsonb not null,
    at        timestamptz not null,
    primary key (tenant_id, key)
);
select tenant_table('household_deeds');

-- News for a member, committed with what they are about, until the notifier has them.
create table household_news (
    tenant_id text not null references tenants on delete cascade,
    id        text not null,
    kind      text not null,
    about     jsonb not null,
    made_at   timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);
create index household_news_next on household_news (made_at);
select tenant_table('household_news');
