-- A message whose news went to another place is settled by that; and what the console lists is found by indexes.

alter table outbound drop constraint outbound_resolution_check;
alter table outbound add constraint outbound_resolution_check
    check (resolution in ('', 'resent', 'dropped', 'elsewhere'));
create index outbound_unsettled_of_person on outbound (tenant_id, created_at, id)
where state in ('held', 'failed', 'ambiguous') and resolution = '';
create index tenants_newest on tenants (created_at, tenant_id);
