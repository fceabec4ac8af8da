-- The tiers that a child was given, and the one before each. A row outlives the membership: who leaves as a child keeps
-- the limits. Two people who become one may have several; `key` is that of the call by which they joined.
create table household_limits (
    tenant_id text not null references tenants on delete cascade,
    key       text not null,
    given     text not null,
    before    text not null default '',
    -- The zone of its hours after the membership: that of the last owner.
    zone      text not null default '',
    -- 'lift': an adult's word ended them, and the tier of before is still to be given back.
    state     text not null default 'given' check (state in ('given', 'lift', 'over')),
    primary key (tenant_id, key)
);
create index household_limits_lift on household_limits (tenant_id) where state = 'lift';
select tenant_table('household_limits');

insert into household_limits (tenant_id, key, given, before)
select m.tenant_id, m.household_id, m.tier_given, m.tier_before from household_members m where m.tier_given <> '';
alter table household_members drop column tier_given, drop column tier_before;
