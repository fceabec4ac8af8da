-- 100,000 rows of each table whose statements have optional filters; the person tn_1 has 2,000 of most, others 50.

create temporary table places as
select at, case when at <= 2000 then 'tn_1' else 'tn_' || at / 50 end as tenant_id, 'id_' || at as id,
       now() - at * interval '1 minute' as past
from generate_series(1, 100000) at;

insert into tenants (tenant_id, created_at) select 'tn_' || at, past from places;
insert into identities (tenant_id, id, channel, account, user_key, admitted)
select 'tn_' || at, id, 'sms', '+1', '+1666' || at, 'open' from places;
insert into directory (channel, account, user_key, person, identity_id)
select channel, account, user_key, tenant_id, id from identities;
insert into consents (channel, account, user_key, state, how) select 'sms', '+1', '+1666' || at, 'stopped', 'said' from places;
insert into conversations (tenant_id, id, identity_id, channel, account, peer, thread, last_inbound_at)
select tenant_id, id, id, case when at % 10 = 0 then 'slack' else 'sms' end, '+1', '+1', id, past from places;
insert into lanes (tenant_id, id, conversation_id) select tenant_id, id, id from places;
insert into turns (tenant_id, id, lane_id, conversation_id, fence, state, started_at, finished_at)
select tenant_id, id, id, id, 1, case at % 1000 when 1 then 'waiting' when 2 then 'poison' else 'done' end, past, past from places;
insert into inbound (tenant_id, id, conversation_id, seq, text, state) select tenant_id, id, id, 1, 'hello', 'done' from places;
insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, state, seq, created_at)
select tenant_id, id, id, id, 'reply', 'Hello.', case at % 1000 when 1 then 'failed' when 2 then 'ambiguous' else 'sent' end, 1, past
from places;
insert into approvals (tenant_id, id, turn_id, conversation_id, place, generation, name, summary, arguments, shown, code, token, timeout,
                       sealed_head, sealed_tail, state, risk, decided_at, created_at)
select tenant_id, id, id, id, '0', 1, 'send_email', 'Send it', '{}', '[]', id, id, '1 hour', 'h', 't',
       case when at % 1000 = 1 then 'pending' else 'approved' end, 'high', past, past
from places;
insert into pool_entries (tenant_id, agent_id, agent_type, turn_id, agent_path, tool_call_id, status, schema_version, expires_at)
select tenant_id, id, 'errand', id, '0', 'c', case when at % 1000 = 1 then 'PAUSED' else 'COMPLETED' end, '1', now() from places;
insert into standing_consents (tenant_id, id, number, turn_id, approval_id, name, sealed, hash, told, max_uses, expires_at,
                               created_at, state)
select 'tn_' || 1 + at / 100, id, at, id, id, 'send_email', 's', 'h', 'digest', 9, now() + interval '1 day', past,
       case when at % 100 = 1 then 'active' else 'ended' end
from places;
insert into undo_records (tenant_id, id, turn_id, number, title, tool, arguments, open_until, created_at)
select 'tn_' || 1 + at / 100, id, id, at, 'Undo', 't', '{}', now() + interval '1 day', past from places;
insert into stored_values (tenant_id, collection, key, number, value) select tenant_id, 'notes', id, at, '{}' from places;
insert into stored_collections (tenant_id, name, last_number) select tenant_id, 'notes', max(at) from places group by 1;
insert into events (tenant_id, source, id, type, data, occurred_at, received_at)
select tenant_id, 'mail', id, 't', '{}', past, past from places;
insert into event_work (tenant_id, source, event_id, group_name, state)
select tenant_id, 'mail', id, 'tasks', case when at % 100 = 1 then 'waiting' else 'done' end from places;
insert into tasks (tenant_id, id, number, title, kind, trigger, state, anchor, next_at, created_at)
select tenant_id, id, at, 'Task', 'schedule', '{}', case when at % 10 = 0 then 'PAUSED' else 'ACTIVE' end, past,
       now() + at * interval '1 minute', past
from places;
insert into credentials (tenant_id, service, account_name, key_version, credentials_json) select 'tn_' || at, 'mail', 'work', 1, '\x00'
from places;
insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, not_before)
select tenant_id, id, 'task', 'normal', 'News', id, case when at % 1000 = 1 then 'held' else 'sent' end, past, now() from places;
insert into prompts (tenant_id, turn_id, step, packed, created_at) select tenant_id, id, 0, '\x00', past from places;
insert into mail_watches (tenant_id, service, account_name, next_attempt_at) select 'tn_' || at, 'mail', 'work', past from places;
insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from, happens_at)
select 'tn_' || at, id, 1, 'An exam', 'person', 'told', id, past, past, now() + interval '1 day' from places;
insert into followups (tenant_id, memory_id, state, happens_at, ask_at, digest_at, changed_at, made_at)
select 'tn_' || at, id, case at % 3 when 0 then 'kept' when 1 then 'proposed' else 'passed' end, now() + interval '1 day',
       now() + interval '2 days', now() + at * interval '1 minute', past, past
from places;
update followup_choices set look_at = case when tenant_id like 'tn_1%' then now() + interval '1 day' end;
