-- Messages that their provider took, and of which it said later that they did not arrive.

alter table outbound add column undelivered boolean not null default false;
update outbound o set undelivered = true
where exists (select from outbound_parts e where e.tenant_id = o.tenant_id and e.outbound_id = o.id
              and e.status in ('undelivered', 'failed'));
-- News that went to another place meanwhile is settled by that.
update outbound o set resolution = 'elsewhere'
where o.undelivered and o.state = 'sent' and o.kind = 'notification' and o.resolution = ''
  and not exists (select from notifications n where n.tenant_id = o.tenant_id and n.outbound_id = o.id);

drop index outbound_unsettled;
drop index outbound_unsettled_of_person;
create index outbound_unsettled on outbound (created_at, id)
where (state in ('held', 'failed', 'ambiguous') or state = 'sent' and undelivered) and resolution = '';
create index outbound_unsettled_of_person on outbound (tenant_id, created_at, id)
where (state in ('held', 'failed', 'ambiguous') or state = 'sent' and undelivered) and resolution = '';
