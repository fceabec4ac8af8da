-- Rows of all that a message touches besides the messages themselves, run after tests/million.py, as an installation has
-- them on a busy day: each table has thousands, most of them done with, and others are at work too.

create temporary table places as
select t.tenant_id, n, t.tenant_id || '_' || n as id, row_number() over () as at
from tenants t, generate_series(1, 12) n;

insert into history (tenant_id, conversation_id, position, session, turn_id, message)
select i.tenant_id, i.conversation_id, 2 * i.seq - 1, 1, i.turn_id, jsonb_build_object('role', 'user', 'text', i.text)
from inbound i
union all
select o.tenant_id, o.conversation_id, 2 * o.seq, 1, o.turn_id, jsonb_build_object('role', 'assistant', 'text', o.text)
from outbound o;
update conversations set history_seq = 2 * in_seq;
insert into inbox_keys (channel, account, key, tenant_id, inbound_id)
select c.channel, c.account, i.provider_id, i.tenant_id, i.id
from inbound i join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id;
insert into prompts (tenant_id, turn_id, step, packed) select tenant_id, turn_id, step, '\x00' from steps where kind = 'model';
insert into ignored_messages (channel, account, key, reason) select 'sms', 'other', id, 'not_allowed' from places;

insert into approval_cards (tenant_id, outbound_id, approval_id)
select tenant_id, id, 'apr_' || right(id, 7) from outbound where right(id, 1) = '9';
insert into redraws (tenant_id, outbound_id, outcome, state, outcome_at, next_attempt_at)
select tenant_id, outbound_id, 'approved', case when right(outbound_id, 3) = '009' then 'due' else 'drawn' end, now(),
       now() + interval '1 hour'
from approval_cards;
insert into pool_entries (tenant_id, agent_id, agent_type, turn_id, agent_path, tool_call_id, status, schema_version,
                          expires_at)
select tenant_id, id, 'errand', 'trn_' || id, '0', 'c', case when at % 100 = 0 then 'PAUSED' else 'COMPLETED' end, '1',
       now() + interval '1 hour'
from places;
insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, not_before)
select tenant_id, id, 'task', 'normal', 'News', id, case when at % 100 = 0 then 'held' else 'sent' end,
       now() - interval '1 day', now() + interval '1 hour'
from places;

insert into credentials (tenant_id, service, account_name, key_version, credentials_json, attend_at)
select tenant_id, 'service ' || n, 'work', 1, '\x00', case when n = 1 then now() + interval '1 hour' end from places;
insert into mail_watches (tenant_id, service, account_name, next_attempt_at, ended)
select tenant_id, 'service ' || n, 'work', now() + interval '1 hour', false from places;
insert into events (tenant_id, source, id, type, data, occurred_at) select tenant_id, 'mail', id, 't', '{}', now() from places;
insert into event_work (tenant_id, source, event_id, group_name, state, next_attempt_at)
select tenant_id, 'mail', id, 'tasks', case when at % 100 = 0 then 'waiting' else 'done' end, now() + interval '1 hour' from places;
insert into webhook_messages (tenant_id, id, endpoint_id, kind, data, state, next_attempt_at)
select tenant_id, id, 'whk', 'k', '{}', case when at % 100 = 0 then 'waiting' else 'sent' end, now() + interval '1 hour' from places;
insert into reminder_permits (tenant_id, from_id, from_name, state, told, asked_at)
select tenant_id, id, 'Ben', 'allowed', true, now() from places;
insert into reminder_wishes (tenant_id, id, from_id, from_name, text, at, state, made_at)
select tenant_id, id, id, 'Ben', 'Call', now(), 'over', now() from places;
insert into run_notices (tenant_id, run_id, key, text, state) select tenant_id, id, 'end', 'Done', 'handed_over' from places;
insert into seen_places (tenant_id, id, how, at, looked_at) select tenant_id, id, 'pin', now(), now() from places;
insert into files (tenant_id, id, sha256, key, kind, content_type, state, size, created_at, used_at)
select tenant_id, id, id, id, 'document', 'text/plain', 'kept', 1, now(), now() from places;
insert into stored_values (tenant_id, collection, key, number, value)
select tenant_id, 'skills', id, n, '{"versions": [{"description": "a skill"}]}' from places;
insert into stored_collections (tenant_id, name, last_number) select tenant_id, 'skills', 12 from tenants;

insert into profile_facts (tenant_id, id, number, key, value, source, since)
select tenant_id, id, n, 'fact_' || n, 'v', 'told', now() from places;
insert into profile_jobs (tenant_id, turn_id, not_before) select tenant_id, id, now() + interval '1 hour' from places;
insert into memory_versions (tenant_id, version) select tenant_id, 12 from tenants;
insert into memory_members (tenant_id, name, shared_id, role) select tenant_id, id, id, 'member' from places;
insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from, extractor)
select tenant_id, id, n, 'I live in Bonn', 'person', 'told', id, now(), now(), case when at % 100 = 0 then 'rules, until read' else 'm' end
from places;
insert into memory_jobs (tenant_id, id, not_before) select tenant_id, id, now() + interval '1 hour' from places;
insert into memory_recalls (tenant_id, turn_id, report) select tenant_id, id, '{}' from places;
insert into memory_forgettings (tenant_id, id, memory_ids, expires_at) select tenant_id, id, '{}', now() from places;

insert into household_members (tenant_id, household_id, role, joined_at) select tenant_id, tenant_id, 'adult', now() from tenants;
insert into household_limits (tenant_id, key, given, state) select tenant_id, id, '', 'over' from places;
insert into followups (tenant_id, memory_id, state, happens_at, changed_at, made_at)
select tenant_id, id, 'over', now(), now(), now() from places;
insert into followup_choices (tenant_id, look_at) select tenant_id, now() + interval '1 day' from tenants;
insert into joint_consents (tenant_id, approval_id, other_id, other_name, summary, shown, form, state, second_id, made_at)
select tenant_id, id, tenant_id, 'Ben', 'Send it', '[]', '[]', 'ended', id, now() from places;
insert into held_answers (tenant_id, outbound_id, segments, asked_at, until, way) select tenant_id, id, 1, now(), now(), 'over' from places;
insert into spoken_answers (tenant_id, outbound_id, state) select tenant_id, id, 'spoken' from places;
-- All others are groups, and what was said there was not for us.
insert into group_chats (tenant_id, channel, account, peer, state, asked_by, asked_key)
select t.tenant_id, 'telegram', 'a', t.tenant_id, 'off', t.tenant_id, 'u' from tenants t
where t.tenant_id not in (select i.tenant_id from identities i where i.id = :identity);
insert into group_words (tenant_id, provider_id, name, words) select g.tenant_id, n::text, 'Ann', 'hello' from group_chats g, generate_series(1, 3) n;

-- Others are at work, have written, or are being answered.
update lanes set owner = 'w/' || id, process = 'w', lease_until = now() + interval '1 hour', fence = 1
where id ~ '[1-4]0sms$';
insert into turns (tenant_id, id, lane_id, conversation_id, fence)
select tenant_id, 'trn_' || id, id, conversation_id, 1 from lanes where owner is not null;
update lanes set pending = true, pending_since = now() where id ~ '[1-4]1sms$';
update inbound i set state = 'waiting', turn_id = null
from conversations c
where c.tenant_id = i.tenant_id and c.id = i.conversation_id and i.seq = c.in_seq and c.id ~ '[1-4]1sms$';
update outbound o set state = 'sending', owner = 's/' || o.id, lease_until = now() + interval '1 hour'
from conversations c
where c.tenant_id = o.tenant_id and c.id = o.conversation_id and o.seq = c.out_seq and c.id ~ '[1-4]2sms$';
update outbound o set state = 'ready', next_attempt_at = now() + interval '1 hour'
from conversations c
where c.tenant_id = o.tenant_id and c.id = o.conversation_id and o.seq = c.out_seq and c.id ~ '[1-4]3sms$';

-- The person who writes is the one with very many messages.
update identities set account = :account, user_key = :person where id = :identity;
update directory set account = :account, user_key = :person where identity_id = :identity;
update conversations set account = :account, peer = :person where identity_id = :identity;
