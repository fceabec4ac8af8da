-- Messages that failed, and what somebody decided about them.

-- resolution: what was decided about a message that failed or whose arrival nobody knows.
-- resends: the message that this one says again.
alter table outbound add column resolution text not null default '' check (resolution in ('', 'resent', 'dropped'));
alter table outbound add column resends text not null default '';
create index outbound_unsettled on outbound (created_at, id)
where state in ('held', 'failed', 'ambiguous') and resolution = '';
