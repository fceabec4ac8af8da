-- The moment of locking_calls.py, as far as the stores do not make it in a few calls. Behind a colon: a name of that file.

-- The turn that waits for a decision and an answer, with its card on its way.
insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments, shown,
    code, token, timeout, sealed_head, sealed_tail, created_at, remind_at, expires_at, hash) select :tenant,
    :approval, :waiting, '0.1/mail', 1, :conversation, 'mail', 'mail', '{}', '[]', '7K', 'card token', '1 hour',
    'h', 't', now(), now(), at, approval_hash('h', at, 't') from (select date_trunc('second', now() + interval
    '1 hour') as at) e;
insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments, shown,
    code, token, timeout, sealed_head, sealed_tail, created_at) values (:tenant, 'apr unsent', :waiting, '0.3/mail',
    1, :conversation, 'mail', 'mail', '{}', '[]', '9K', 'third token', '1 hour', 'h', 't', now());
insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments, shown,
    code, token, timeout, sealed_head, sealed_tail, created_at, state) values (:tenant, :approved, :waiting,
    '0.2/mail', 1, :conversation, 'mail', 'mail', '{}', '[]', '8K', 'other token', '1 hour', 'h', 't', now(),
    'approved');
insert into joint_consents (tenant_id, approval_id, other_id, other_name, summary, shown, form, state, second_id, made_at)
    values (:tenant, :approval, :ben, 'Ben', '', '[]', '[]', 'asked', 'apr_ben', now());
insert into approval_cards (tenant_id, outbound_id, approval_id, role) values (:tenant, :card, :approval, 'card'),
    (:tenant, :sent, 'apr unsent', 'card'), (:tenant, :failed, :approval, 'number');
insert into redraws (tenant_id, outbound_id, outcome, outcome_at) values (:tenant, :sent, 'approved', now());
insert into pool_entries (tenant_id, agent_id, agent_type, conversation_id, turn_id, agent_path, tool_call_id,
    status, schema_version, expires_at, context) values (:tenant, :agent, 'A', :conversation, :waiting, '0.1/A',
    'c', 'WAITING_FOR_INPUT', 'v', now() + interval '1 hour', '{"asked": ["size"]}');
insert into questions (tenant_id, id, turn_id, agent_id, name, choices, skip, token) values (:tenant, 'ask',
    :waiting, :agent, 'size', '[{"label": "L", "value": 1}]', false, 'question token');

-- Messages in the other states.
update outbound set text = 'a secret 123456', rest =
    '[[{"part": 1, "ref": "r", "text": "more", "data": {}, "segments": 1}]]' where id in (:sent, :failed, :apart);
update outbound set state = 'failed', text = 'no secret 123456' where id = :failed;
update outbound set turn_id = null where id = :apart;
update outbound set state = 'sent' where id = :apart;
update outbound set rest = '[[{"part": 1, "ref": "c", "text": "more", "data": {}, "segments": 1}]]' where id = :card;
insert into held_answers (tenant_id, outbound_id, segments, asked_at, until) values
    (:tenant, :apart, 14, now(), now()), (:tenant, :card, 14, now(), now());
insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, state) values (:tenant, :held,
    :conversation, :turn, 'notification', 'held', 'held');
insert into outbound (tenant_id, id, conversation_id, turn_id, kind, text, state, stream_at) values (:tenant,
    :grown, :conversation, :turn, 'reply', '', 'held', now());

-- Another lane of the person that waits for a worker, and a message there; a task whose run is at work.
insert into tasks (tenant_id, id, number, title, kind, trigger, anchor, created_at) values (:tenant, :task, 1, 'T',
    'event', '{}', now(), now() - interval '1 hour');
insert into lanes (tenant_id, id, pending) values (:tenant, :run, false);
insert into turns (tenant_id, id, lane_id, state, fence) values (:tenant, :run_turn, :run, 'waiting', 1);
insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, turn_id) values (:tenant, :run, :task,
    'o', now(), 'QUEUED', :run_turn);
insert into lanes (tenant_id, id, pending) values (:tenant, 'held run', false);
insert into turns (tenant_id, id, lane_id, state, fence) values (:tenant, 'held turn', 'held run', 'waiting', 1);
insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, turn_id) values (:tenant, 'held run',
    :task, 'held', now(), 'PENDING_APPROVAL', 'held turn');
insert into pool_entries (tenant_id, agent_id, agent_type, turn_id, agent_path, tool_call_id, status,
    schema_version, expires_at) values (:tenant, 'held agent', 'A', 'held turn', '0.1/A', 'c',
    'WAITING_FOR_ACCOUNT', 'v', now() + interval '1 hour');
insert into pool_entries (tenant_id, agent_id, agent_type, turn_id, agent_path, tool_call_id, status,
    schema_version, expires_at) values (:tenant, 'run agent', 'A', :run_turn, '0.1/A', 'c', 'WAITING_FOR_ACCOUNT',
    'v', now() + interval '1 hour');
insert into lanes (tenant_id, id, pending) values (:tenant, 'old run', false);
insert into turns (tenant_id, id, lane_id, state, fence) values (:tenant, 'old turn', 'old run', 'done', 1);
insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, turn_id, finished_at) values (:tenant,
    'old run', :task, 'old', now(), 'COMPLETED', 'old turn', now());

-- Notices, an account that is connected, and codes that others type.
insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, not_before) values
    (:tenant, :note, 'general', 'normal', 'news', 'k', 'held', now(), now());
insert into outbound (tenant_id, id, conversation_id, kind, text, state, seq) values (:tenant, 'out queued', :other,
    'notification', 'news', 'ready', 1000);
insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, outbound_id) values
    (:tenant, :queued_note, 'general', 'normal', 'news', 'q', 'queued', now(), 'out queued');
insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, outbound_id) values
    (:tenant, :failed_note, 'general', 'normal', 'news', 'f', 'failed', now(), :failed);
insert into outbound (tenant_id, id, conversation_id, kind, text, state, seq, owner, lease_until, fence) values
    (:tenant, 'out told', :other, 'notification', 'news', 'sending', 1001, 's1/b', now() + interval '1 hour', 1);
insert into outbound_parts (tenant_id, outbound_id, part, ref, text, state) values (:tenant, 'out told', 1,
    'news part', 'a secret', 'ambiguous');
insert into deliveries (tenant_id, outbound_id, part, attempt, owner) values (:tenant, 'out told', 1, 1, 's1/b');
insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, outbound_id) values
    (:tenant, 'ntf told', 'general', 'normal', 'news', 't', 'queued', now(), 'out told');
insert into connect_links (tenant_id, token_hash, conversation_id, service, account_name, abilities, made_at,
    expires_at) values (:tenant, sha256('connect'), :conversation, 'mail', 'work', '{}', now(), now() + interval
    '1 h');
insert into link_codes (tenant_id, code_hash, identity_id, turn_id, made_at, expires_at, asked_channel,
    asked_account, asked_user_key, asked_by) select :tenant, sha256(hash::bytea), :ann_id, turn, now(), now() +
    interval '1 hour', channel, account, user_key, 'before' from (values ('link', :old_turn, :channel,
    :account_of_all, :ben_key), ('link there', :waiting, 'console', '', :ben)) k (hash, turn, channel, account,
    user_key);
insert into link_codes (tenant_id, code_hash, identity_id, turn_id, made_at, expires_at, asked_channel,
    asked_account, asked_user_key, asked_by) select :ben, sha256('link ben'), id, :ben_turn, now(), now() + interval
    '1 hour', channel, account, :ann_key, 'before' from identities where tenant_id = :ben;
update lanes set owner = null, lease_until = null where tenant_id = :ben;
insert into links (tenant_id, id, other_id, other, before, made_at) select :tenant, 'lnk', 'tn_gone', to_jsonb(t) ||
    '{"tenant_id": "tn_gone"}', to_jsonb(t), now() from tenants t where tenant_id = :tenant;
insert into links (tenant_id, id, other_id, other, before, made_at) values (:tenant, 'lnk old', 'tn_old', '{}',
    '{}', now() - interval '2 days');
insert into linked_rows (tenant_id, link_id, of, key) values (:tenant, 'lnk old', 'conversations', '{old}');
insert into identities (tenant_id, id, channel, account, user_key, admitted) values (:tenant, 'idn_second',
    'telegram', 'bot', '77', 'open');
select add_data_key(:tenant, 'k', 'w');
insert into linked_rows (tenant_id, link_id, of, key) values (:tenant, 'lnk', 'conversations', array[:other]);
insert into group_chats (tenant_id, channel, account, peer, title, state, asked_by, asked_key) values (:tenant,
    :channel, :account_of_all, :ann_key, 'Us', 'on', :ben, :ann_key);
insert into group_askers (tenant_id, inbound_id, asker, name) select i.tenant_id, i.id, :ben, 'Ann' from inbound i
    where i.tenant_id = :tenant and i.turn_id = :turn;
select ask_deletion(:tenant, 'person', now(), now());
