"""Promise 11: tenants are apart in the database itself, whatever a statement forgets to say."""

from dataclasses import replace
from urllib.parse import urlsplit

import asyncpg
import pytest

from core.db.database import Database
from core.db.serving import ROLE
from core.errors import LeaseLost
from core.people.tenant_tables import tenant_tables
from tests.core.harness import Store

ANN, BOB = "+15550000001", "+15550000002"
WITHOUT_TENANT = {
    "schema_functions",
    "schema_migrations",
    "schema_ability_migrations",
    "directory",
    "ignored_messages",
    "channel_state",
    "file_deletions",
    "pairings",
    "guesses",
    "consents",
    "event_groups",
    "worker_health",
    "write_probe",
    "segments_of_all",
    "usage_totals",
    "waiting_counts",
    "deletions",
    "deletion_secret",
    "own_partition",
    "backups",
    "retention_marks",
    "accepted_definitions",
    "halts",
    "webhook_endpoints",
}

APPEND_ONLY = {"approval_audit", "console_actions", "person_audit"}
TELLING_NO_MORE = {"boolean", "integer", "void", "trigger"}
"""What a function across tenants may give beside what `TOLD` names: whether, how many, nothing."""

# These tell no more than that. With TOLD they are all that looks across people, and so across partitions.
TELLING_NOTHING = {
    "awaits_outreach", "begin_parting", "check_partition", "clear_memory_jobs", "count_stuck_redraws", "delete_bytes",
    "delete_tenant", "delete_webhook_endpoint", "drop_unfinished_files", "end_leases", "expire_files",
    "free_moved_event", "hold_task", "hold_tasks", "is_halted", "is_reached", "knows_writer",
    "leave_mail_watches", "may_decide_too", "merge_wishes", "note_address", "note_link",
    "probe_write", "prune_audit",
    "prune_client_tokens", "prune_journals", "prune_messages", "prune_messages_apart", "prune_prompts", "prune_usage",
    "quarantine_waits", "reap_lapsed", "reap_process", "redact_elsewhere", "scrub_numbers", "sum_closed_days",
    "prune_group_words", "prune_places", "tell_of_recipient",
}  # fmt: skip
_USED = {"calls", "failed", "input_tokens", "output_tokens", "cached_tokens", "cost", "took_ms"}
# What a function that looks across tenants may tell: ids, places and counts, never what anybody wrote or is.
TOLD = {
    "find_identity": {"tenant_id", "identity_id"},
    "find_connect_link": {"tenant_id", "token_hash"},
    "find_place_link": {"tenant_id"},
    "find_answer_link": {"tenant_id"},
    "claim_lapsed_answers": {"tenant_id", "outbound_id"},
    "claim_new_places": {"tenant_id", "id"},
    "find_due_accounts": {"tenant_id"},
    "find_revoked_accounts": {"tenant_id", "service"},
    "find_client_token": {"tenant_id", "token_id"},
    "find_console_link": {"tenant_id"},
    "find_console_session": {"tenant_id"},
    "console_people": {"tenant_id", "since"},
    "find_unsettled": {"tenant_id", "outbound_id", "at", "state"},
    "find_held_people": {"tenant_id", "held", "until"},
    # Of an address only its end: a STOP of somebody who belongs to nobody here has to be listed too.
    "list_consents": {"id", "channel", "ending", "state", "how", "at", "tenant_id"},
    "find_export_link": {"tenant_id"},
    "console_owner": {"tenant_id"},
    "console_conversations": {"tenant_id", "conversation_id", "last_at"},
    "console_oldest": {"waiting", "to_send"},
    "console_unsettled": {"ambiguous", "failed", "set_aside", "last_set_aside", "undelivered"},
    "console_strain": {"lapsed", "connections", "most"},
    "console_given_up": {"channel", "messages", "reason"},
    "console_waiting": {"tenant_id", "kind", "id", "since"},
    "console_tasks": {"tenant_id", "task_id", "state", "next_at"},
    "find_messages": {"message_id", "conversation_id", "inward", "at"},
    "console_messages": {"tenant_id", "message_id", "conversation_id", "inward", "at"},
    # The names are those of models and tools.
    "console_usage": {"day", "kind", "name", *_USED},
    "console_spenders": {"tenant_id", "spent", "segments", "texts", *_USED},
    "console_task_usage": {"tenant_id", "task_id", *_USED},
    "find_received": {"tenant_id", "inbound_id"},
    "replied_recipient": {"tenant_id", "recipient_id"},
    "take_answer": {"outcome"},
    "find_conversations": {"tenant_id", "conversation_id"},
    "find_part": {"tenant_id", "outbound_id", "part"},
    "find_trace": {"tenant_id", "turn_id", "inbound_id", "outbound_id"},
    # `quarantine` says of this process what it runs, and of all others only whether a turn waits.
    "claim_lane": {"tenant_id", "lane_id", "fence", "quarantine"},
    "expire_pool": {"tenant_id", "lane_id"},
    "claim_memory_job": {"tenant_id", "id", "attempts"},
    "tidy_memory": {"tenant_id"},
    "memory_unembedded": {"tenant_id"},
    "make_shared_collection": {"shared_id"},
    "change_member": {"shared_id"},
    "take_due_tasks": {
        "tenant_id", "task_id", "kind", "due_at", "schedule", "person_zone", "channel", "anchor", "fired", "rezone",
    },
    "fire_tasks": {"tenant_id", "lane_id"},
    "next_due_task": {"tenant_id", "due"},
    "find_set_aside": {"tenant_id", "task_id", "number", "cause"},
    "find_spared": {"tenant_id", "task_id"},
    "find_failed_notices": {"tenant_id", "notices"},
    "size_of_files": {"bytes"},
    "find_set_aside_work": {"kind", "number", "retry"},
    "claim_notices": {"tenant_id", "run_id", "key", "traceparent"},
    "claim_mail_watches": {"tenant_id", "watch_id", "revision"},
    "keep_mail_watches": {"tenant_id", "watch_id", "revision"},
    "count_mail_watches": {"problem", "watched", "unwatched", "ended"},
    "claim_outbound": {"tenant_id", "outbound_id", "conversation_id", "fence"},
    "find_data_keys": {"tenant_id", "version"},
    "find_pending": {"tenant_id", "approval_id"},
    "list_feedback": {"tenant_id", "outbound_id"},
    "claim_speech": {"tenant_id", "id"},
    "find_trouble": {"kind", "id"},
    "find_approval": {"tenant_id", "approval_id"},
    "find_question": {"tenant_id", "question_id"},
    "due_reminders": {"tenant_id", "approval_id"},
    "expire_approvals": {"tenant_id", "approval_id", "lane_id"},
    "sweep_cards": {"tenant_id", "lane_id"},
    "claim_redraw": {"tenant_id", "outbound_id", "fence"},
    "find_tenants": {"tenant_id", "identities"},
    "find_group": {"tenant_id"},
    "find_groups": {"tenant_id"},
    "claim_asked_groups": {"tenant_id"},
    "find_owners": {"tenant_id"},
    "find_household_members": {"tenant_id"},
    "find_household_invitation": {"tenant_id"},
    "claim_household_news": {"tenant_id", "id"},
    "claim_wishes": {"tenant_id", "from_id", "wish_id"},
    "prune_wishes": {"pruned"},
    "find_joint": {"tenant_id", "approval_id", "due_at"},
    "claim_joint": {"tenant_id", "approval_id"},
    "claim_followups": {"tenant_id"},
    "list_followups": {"tenant_id", "memory_id"},
    "list_held_answers": {"tenant_id", "outbound_id"},
    "list_spared": {"tenant_id"},
    "find_household_owner": {"tenant_id"},
    "claim_limits_to_lift": {"tenant_id"},
    "find_consent": {"state", "since"},
    "count_lost_answers": {"lost", "found", "told", "resent", "left_alone", "still_open"},
    "count_consents": {"stops", "starts"},
    "drop_strangers": {"strangers", "codes"},
    "admit_address": {"account"},
    "look_for_part": {"tenant_id", "outbound_id", "part"},
    "find_link_code": {"tenant_id"},
    "count_belongings": {"counts"},
    "begin_link": {"outcome", "gone_id", "identity_id", "counts"},
    "begin_link_by": {"outcome", "gone_id", "identity_id", "counts"},
    "begin_link_in_console": {"outcome", "gone_id", "identity_id", "counts"},
    "find_asked_links": {"channel", "until"},
    "merge_people": {"rows_moved"},
    "drop_link_codes": {"codes"},
    "move_apart": {"rows_moved"},
    "count_memory_set_aside": {"jobs"},
    "drop_ignored": {"messages"},
    "drop_undo": {"records"},
    "tidy_consents": {"expired", "deleted"},
    "claim_talk": {"tenant_id", "turn_id", "attempts"},
    "claim_webhook": {"tenant_id", "id"},
    "console_webhooks": {"tenant_id", "id"},
    "count_webhooks": {"endpoint_id", "waiting", "failed"},
    "prune_webhooks": {"pruned"},
    "add_event_group": {"group_name", "added"},
    "drop_event_group": {"group_name", "dropped"},
    "claim_next_event": {"tenant_id", "source", "event_id"},
    "prune_events": {"pruned", "left_over"},
    "find_event_source": {"tenant_id", "source_id"},
    "event_source_keys": {"source_id", "bearer_key", "created_at"},
    "find_held": {"tenant_id", "held"},
    "find_held_cards": {"tenant_id", "outbound_id", "approval_id"},
    # Times and the names of our errors, for doctor: no address, no text.
    "count_delayed": {"channel", "account", "conversations", "since", "next_try", "reasons"},
    "count_given_up": {"given_up", "told"},
    "find_delayed": {"tenant_id", "outbound_id"},
    "find_undelivered": {"tenant_id", "notification_id"},
    "prune_notifications": {"pruned", "left_over"},
    "prune_runs": {"pruned", "left_over"},
    "prune_tasks": {"pruned", "left_over"},
    "what_is_due": {"work", "wait"},
    "count_work": {
        "waiting_messages", "running_turns", "open_outbound", "ambiguous", "failed", "poison", "oldest_waiting",
    },
}  # fmt: skip


# One row of each further table.
KEPT = (
    "insert into webhook_endpoints (id, url, kinds) values ('e' || $1, 'https://example.org', '{}')",
    "insert into webhook_messages (tenant_id, id, endpoint_id, kind, data)"
    " values ($1, 'w' || $1, 'e' || $1, 'turn.done', '{}')",
    "insert into halt_words (tenant_id, id, channel, word, outcome) select tenant_id, id, 'sms', 'lift', 'refused'"
    " from inbound where tenant_id = $1",
    "select put_value($1, 'notes', '1', '{}')",
    "select add_data_key($1, 'k', 'w')",
    "insert into files (tenant_id, id, sha256, key, kind, content_type, size, created_at, used_at)"
    " values ($1, 'f', 'h', 'k', 'text', 'text/plain', 1, now(), now())",
    "insert into inbound_files (tenant_id, inbound_id, number, file_id) select tenant_id, id, 1, 'f' from inbound"
    " where tenant_id = $1 limit 1",
    "select save_credentials($1, 'mail', 'work', 1, 's')",
    "select keep_connect_link($1, jsonb_build_object('token_hash', md5($1), 'service', '',"
    " 'account_name', '', 'abilities', '[]'::jsonb, 'expires_at', now()), now(), now() - interval '1 day', 5)",
    "select keep_console_link($1, decode(md5($1), 'hex'), false, now(), now(), now() - interval '1 day', 5)",
    "select keep_client_token($1, 'mcp_' || $1, 'idn_mcp_' || $1, 'laptop', decode(md5('mcp' || $1), 'hex'), now(),"
    " now() + interval '1 day', 5)",
    "insert into console_sessions (tenant_id, token_hash, operator, begun_at, seen_at, expires_at)"
    " values ($1, decode(md5($1), 'hex'), false, now(), now(), now())",
    "select keep_export_link($1, decode(md5($1), 'hex'), now(), now(), now() - interval '1 day', 5)",
    "insert into prompts (tenant_id, turn_id, step, packed) select tenant_id, id, 0, '' from turns"
    " where tenant_id = $1",
    "insert into usage_days (tenant_id, day, kind, name) values ($1, '2026-01-01', 'model', 'm')",
    "insert into message_words (tenant_id, message_id, conversation_id, inward, at, words)"
    " select tenant_id, 'w' || $1, id, true, now(), '' from conversations where tenant_id = $1 limit 1",
    "insert into console_looks (tenant_id, id, viewer, what, subject, at) values ($1, 'l' || $1, '', '', '', now())",
    "insert into console_actions (tenant_id, id, viewer, what, subject, at) values ($1, 'a' || $1, '', '', '', now())",
    "select keep_undo($1, (select id from turns where tenant_id = $1 limit 1), 'c' || $1, jsonb_build_array("
    "jsonb_build_object('title', 'Tea', 'tool', 't', 'arguments', '{}'::jsonb, 'made_at', now(), 'until', now())))",
    "insert into account_prompts (tenant_id, topic, turn_id) values ($1, 'mail.read', 'a')",
    "insert into pool_entries (tenant_id, agent_id, agent_type, conversation_id, turn_id, agent_path, tool_call_id,"
    " status, schema_version, expires_at) select tenant_id, 'a', 'A', conversation_id, id, '0.1/A', 'c',"
    " 'WAITING_FOR_INPUT', 'v', now() from turns where tenant_id = $1",
    "select keep_link_code($1, (select id from turns where tenant_id = $1 limit 1), decode(md5($1), 'hex'), now(),"
    " now(), 9)",
    "insert into recipients (tenant_id, id, channel, account, user_key, written_at)"
    " values ($1, 'rcp', 'sms', 'x', '+1', '2026-01-01')",
    "insert into receipts (tenant_id, turn_id, agent_path, step, call_index, number, at, told)"
    " select tenant_id, id, '', 0, 1, receipt_number(id, '', 0, 1), now(), jsonb_build_object('number',"
    " receipt_number(id, '', 0, 1), 'at', receipt_time(now()), 'turn', id, 'tool', 'mail', 'effect', 'once', 'outcome',"
    " 'ok', 'asked_on', 'sms', 'asked', '', 'card', null, 'consent', null, 'sent', '[]'::jsonb, 'answer',"
    " jsonb_build_object('text', 'Sent.')) from turns where tenant_id = $1",
    "insert into links (tenant_id, id, other_id, other, before, made_at)"
    " values ($1, 'lnk', 'tn_gone', '{}', '{}', '2020-1-1')",
    "insert into linked_rows (tenant_id, link_id, of, key) values ($1, 'lnk', 'tasks', '{t}')",
    "insert into memory_versions (tenant_id) values ($1)",
    "insert into memory_sessions (tenant_id, id, expires_at) values ($1, 's', '2100-01-01')",
    "insert into memory_messages (tenant_id, session, position, message) values ($1, 's', 1, '{}')",
    "insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from)"
    " values ($1, 'm', 1, 'I like tea', 'person', 'told', 'k', now(), now())",
    "insert into memory_vectors (tenant_id, memory_id, embedder, embedding) values ($1, 'm', 'e', '[1]')",
    "insert into memory_terms (tenant_id, embedder, term, embedding) values ($1, 'e', 'tea', '[1]')",
    "insert into memory_jobs (tenant_id, id) values ($1, 'j')",
    "insert into memory_forgettings (tenant_id, id, memory_ids, expires_at) values ($1, 'f', '{m}', '2100-1-1')",
    "insert into memory_recalls (tenant_id, turn_id, report) select tenant_id, id, '{}' from turns"
    " where tenant_id = $1",
    "insert into memory_members (tenant_id, name, shared_id, role) values ($1, 'home', 'c', 'owner')",
    "insert into group_chats (tenant_id, channel, account, peer, state, asked_by, asked_key)"
    " values ($1, 'telegram', '7', $1, 'on', $1, '1')",
    "insert into group_words (tenant_id, provider_id, name, words) values ($1, '1', 'Ann', 'hello')",
    "insert into group_askers (tenant_id, inbound_id, asker, name) values ($1, 'i', $1, 'Ann')",
    "insert into group_requests (tenant_id, inbound_id, group_id) select tenant_id, id, 'g' from inbound"
    " where tenant_id = $1",
    "insert into household_members (tenant_id, household_id, role, joined_at) values ($1, 'hh' || $1, 'owner', now())",
    "insert into household_limits (tenant_id, key, given) values ($1, 'k', 'child')",
    "insert into household_invitations (tenant_id, code_hash, invited_by, role, key, made_at, expires_at)"
    " values ($1, convert_to($1, 'UTF8'), $1, 'adult', 'k', now(), now())",
    "insert into household_deeds (tenant_id, key, answer, at) values ($1, 'k', '{}', now())",
    "insert into household_news (tenant_id, id, kind, about) values ($1, 'k', 'left', '{}')",
    "insert into followup_choices (tenant_id) values ($1)",
    "insert into followups (tenant_id, memory_id, state, happens_at, changed_at, made_at)"
    " values ($1, 'm', 'declined', now(), now(), now())",
    "insert into reminder_permits (tenant_id, from_id, from_name, asked_at) values ($1, 'f', 'F', now())",
    "insert into reminder_wishes (tenant_id, id, from_id, from_name, text, at, made_at)"
    " values ($1, 'w', 'f', 'F', 'tea', now(), now())",
    "select keep_fact($1, 'fact_' || $1, 'home', 'Lisbon', 'told', '', now())",
    "insert into profile_jobs (tenant_id, turn_id) select tenant_id, id from turns where tenant_id = $1",
    "insert into tasks (tenant_id, id, number, title, kind, trigger, anchor, created_at)"
    " values ($1, 't', 1, 'T', 'event', '{}', now(), now())",
    "insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state)"
    " values ($1, 'r', 't', 'o', now(), 'COMPLETED')",
    "insert into run_notices (tenant_id, run_id, key, text) values ($1, 'r', 'end', 'news')",
    "insert into segment_days (tenant_id, day, segments) values ($1, '2026-01-01', 1)",
    "select reserve_money($1, jsonb_build_object('turn_id', 'turn', 'agent_path', '', 'step', 0, 'call_index', 0,"
    " 'day', '2026-01-01', 'task_id', ''), 1, 2, null, '1 minute')",
    "insert into event_sources (tenant_id, id, name, style, secret_hash)"
    " values ($1, 'src_' || $1, 'door', 'bearer', 'h')",
    "insert into seen_places (tenant_id, id, how, at) values ($1, 'p' || $1, 'sent', now())",
    "insert into saved_places (tenant_id, key, name, latitude, longitude, radius, made_at)"
    " values ($1, 'home of ' || $1, 'home', 0, 0, 150, now())",
    "select keep_place_link($1, decode(md5($1), 'hex'), null, now(), now(), now() - interval '1 day', 5)",
    "select publish_event($1, 'door', '1', '', 'opened', '{}', null)",
    "insert into event_work (tenant_id, source, event_id, group_name) values ($1, 'door', '1', 't')",
    "insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments,"
    " shown, code, token, timeout, sealed_head, sealed_tail, created_at) select tenant_id, 'apr', id, '0.1/mail', 1,"
    " conversation_id, 'mail', 'mail', '{}', '[]', '7K', tenant_id, '1 hour', 'h', 't', now() from turns"
    " where tenant_id = $1",
    "insert into joint_consents (tenant_id, approval_id, other_id, other_name, summary, shown, form, second_id,"
    " made_at) select tenant_id, id, 'tn_other', 'Ben', '', '[]', '[]', 's', now() from approvals"
    " where tenant_id = $1",
    "select issue_code($1, 'apr', '{7K}', now(), '7 days')",
    "select audit_approval($1, 'apr', now(), 'requested', '', '', '', '{}')",
    "insert into standing_consents (tenant_id, id, number, turn_id, approval_id, name, sealed, hash, told, max_uses,"
    " used, expires_at, created_at)"
    " values ($1, 'cns' || $1, 1, 'turn', 'apr', 'x', '{}', '', 'digest', 1, 1, now(), now())",
    "insert into consent_uses (tenant_id, id, consent_id, turn_id, call_id, arguments_hash, number, at)"
    " values ($1, 'use' || $1, 'cns' || $1, 'turn', '', '', 1, now())",
    "insert into questions (tenant_id, id, turn_id, agent_id, name, choices, skip, token)"
    " select tenant_id, 'ask' || $1, id, 'agent', 'size', '[]', false, 'ask' || $1 from turns where tenant_id = $1",
    "insert into question_cards (tenant_id, outbound_id, question_id) select tenant_id, id, 'ask' || $1 from outbound"
    " where tenant_id = $1",
    "insert into approval_cards (tenant_id, outbound_id, approval_id) select tenant_id, id, 'apr' from outbound"
    " where tenant_id = $1",
    "select draw_outcome($1, 'apr', 'done', now())",
    "insert into feedback (tenant_id, outbound_id, emoji, given, at) select tenant_id, id, '👍', true, now()"
    " from outbound where tenant_id = $1",
    "insert into spoken_answers (tenant_id, outbound_id)"
    " select tenant_id, id from outbound where tenant_id = $1 limit 1",
    "insert into held_answers (tenant_id, outbound_id, segments, asked_at, until, link_hash)"
    " select tenant_id, id, 14, now(), now(), convert_to(id, 'UTF8') from outbound where tenant_id = $1 limit 1",
    "select keep_answer_limit($1, 4)",
    "select count_spared($1, 'memory')",
    "insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at)"
    " values ($1, 'ntf', 'general', 'normal', 'news', 'k', 'sent', now())",
)


async def two_people(store: Store) -> tuple[str, str]:
    """Return Ann and Bob rows in every table that belongs to a tenant; return their tenant ids."""
    for sender in (ANN, BOB):
        await store.say("hello", sender=sender)
        lease, turn = await store.claim_turn()
        await store.database.call(
            "select record_step($1,$2,$3,$4,jsonb_build_object('agent_path', '', 'step', 0,"
            " 'call_index', 0, 'kind', 'model', 'name', 'm', 'args_hash', '', 'effect', 'read', 'state', 'done',"
            " 'outcome', 'ok', 'idempotency_key', '', 'result', '{}'::jsonb, 'usage', '{}'::jsonb, 'duration_ms', 1))",
            lease.tenant_id, lease.lane_id, lease.fence, turn.turn_id,
        )  # fmt: skip
        assert not await store.finish(lease, turn, "hi")
        await store.send(await store.claim_sending("hi"))
        async with store.database.tenant(lease.tenant_id) as connection:
            for statement in KEPT:
                await connection.execute(statement, lease.tenant_id)
    ids = await store.db.identities.column("tenant_id", order="user_key")
    return str(ids[0]), str(ids[1])


async def test_every_table_is_under_forced_row_security_with_a_policy(store: Store) -> None:
    rows = await store.admin.fetch(
        "select c.relname::text as name, c.relrowsecurity as on, c.relforcerowsecurity as forced,"
        " exists (select from pg_policy p where p.polrelid = c.oid) as policy,"
        " exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') as tenant,"
        " (select pg_get_expr(p.polqual, c.oid) || pg_get_expr(p.polwithcheck, c.oid) from pg_policy p"
        "  where p.polrelid = c.oid and p.polname = 'one_tenant' and p.polroles ="
        "  array[(select oid from pg_roles where rolname = 'onevalet_app')] and p.polcmd = '*') as rule"
        " from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')"
    )
    assert {r["name"] for r in rows if not (r["on"] and r["forced"] and r["policy"])} == set()
    assert {r["name"] for r in rows if r["tenant"]} == set(tenant_tables())
    assert {r["name"] for r in rows if not r["tenant"]} == WITHOUT_TENANT
    [rule] = {r["rule"] for r in rows if r["tenant"]}
    assert rule.count("NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)") == 2
    # Nothing else lets the serving role through: permissive policies add up.
    others = await store.column(
        "select p.polrelid::regclass::text from pg_policy p where p.polname <> 'one_tenant' and exists (select"
        " from unnest(p.polroles) r where r = 0 or pg_has_role('onevalet_app', nullif(r, 0), 'member'))"
    )
    # Functions alone write and read there.
    assert set(others) == WITHOUT_TENANT - {"write_probe", "directory"}


async def test_references_between_a_tenants_tables_name_the_tenant(store: Store) -> None:
    keys = await store.admin.fetch(
        "select k.conname::text as name, k.conrelid::regclass::text as of, k.confrelid::regclass::text as to,"
        " exists (select from unnest(k.conkey, k.confkey) x(mine, theirs) join pg_attribute a"
        "  on a.attrelid = k.conrelid and a.attnum = x.mine join pg_attribute b"
        "  on b.attrelid = k.confrelid and b.attnum = x.theirs"
        "  where a.attname = 'tenant_id' and b.attname = 'tenant_id') as by_tenant"
        " from pg_constraint k where k.contype = 'f'"
    )
    assert len(keys) >= len(tenant_tables()) - 1
    assert [k["name"] for k in keys if not k["by_tenant"]] == []
    order = {table: number for number, table in enumerate(tenant_tables())}
    assert [k["name"] for k in keys if order[k["to"]] >= order[k["of"]]] == []
    # Every tenant's table leads up to the tenant, so that deleting one leaves nothing.
    assert {k["of"] for k in keys} | {"tenants"} == set(tenant_tables())


async def test_deleting_a_tenant_deletes_all_its_rows_and_no_others(store: Store) -> None:
    ann, bob = await two_people(store)
    await store.db.tenants.delete(tenant_id=ann)
    for table in tenant_tables():
        assert set(await store.column(f"select tenant_id from {table}")) == {bob}, table  # noqa: S608


@pytest.mark.parametrize("asked", ["", "?role=onevalet", "?options=-c%20role%3Donevalet"])
async def test_every_connection_uses_the_application_role_despite_the_url(database_url: str, asked: str) -> None:
    url = database_url.partition("?")[0] + asked
    database = Database(url, size=2)
    try:
        for _ in range(3):  # also after the pool has reset a connection
            row = await database.call(
                "select current_user::text as user, (select rolsuper or rolbypassrls"
                " from pg_roles where rolname = current_user) as free"
            )
            assert row is not None
            assert (row["user"], row["free"]) == (ROLE, False)
        async with database.tenant("tn_x") as connection:
            assert await connection.fetchval("select current_user") == ROLE
    finally:
        await database.close()
    assert urlsplit(database_url).username != ROLE


async def test_promise_11_without_a_where_a_tenant_sees_its_rows_and_nobody_none(store: Store) -> None:
    ann, bob = await two_people(store)
    for table in tenant_tables():
        everything = f"select tenant_id from {table}"  # noqa: S608
        assert set(await store.column(everything)) == {ann, bob}, f"nothing to tell apart in {table}"
        assert await store.database.rows(everything) == []
        for tenant in (ann, bob):
            async with store.database.tenant(tenant) as connection:
                assert {row[0] for row in await connection.fetch(everything)} == {tenant}, table
        for nobody in ("", "tn_unknown"):
            async with store.database.tenant(nobody) as connection:
                assert await connection.fetch(everything) == [], table


async def test_promise_11_a_tenant_cannot_write_change_or_delete_anothers_row(store: Store) -> None:
    ann, bob = await two_people(store)
    before = await store.everything()
    for table in APPEND_ONLY:
        for statement in (f"update {table} set tenant_id = tenant_id", f"delete from {table}"):  # noqa: S608
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
                async with store.database.tenant(ann) as connection:
                    await connection.execute(statement)
    for table in (table for table in tenant_tables() if table not in APPEND_ONLY):
        columns = await store.one(
            "select string_agg(quote_ident(column_name), ', ') from information_schema.columns"
            " where table_name = $1 and is_generated = 'NEVER'",
            table,
        )
        async with store.database.tenant(ann) as connection:
            changed = await connection.execute(f"update {table} set tenant_id = tenant_id where tenant_id = $1", bob)  # noqa: S608
            deleted = await connection.execute(f"delete from {table} where tenant_id = $1", bob)  # noqa: S608
            assert (changed, deleted) == ("UPDATE 0", "DELETE 0"), table
        for statement in (
            f"insert into {table} ({columns}) select {columns} from (select (jsonb_populate_record("  # noqa: S608
            f" x, jsonb_build_object('tenant_id', '{bob}'))).* from {table} x) y",
            f"update {table} set tenant_id = '{bob}'",  # noqa: S608
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
                async with store.database.tenant(ann) as connection:
                    await connection.execute(statement)
    assert await store.everything() == before


async def test_a_tenant_set_for_one_transaction_is_gone_in_the_next(store: Store) -> None:
    ann, _ = await two_people(store)
    database = Database(store.url, size=1)
    async with database.tenant(ann) as connection:
        assert await connection.fetchval("select count(*) from inbound") == 1
    assert await database.rows("select * from inbound") == []
    with pytest.raises(asyncpg.DivisionByZeroError):
        async with database.tenant(ann) as connection:
            await connection.fetch("select 1/0")
    assert await database.rows("select * from inbound") == []
    await database.close()


async def test_cross_tenant_functions_return_ids_only_and_fix_their_search_path(store: Store) -> None:
    rows = await store.admin.fetch(
        "select p.proname::text as name, coalesce(p.proargnames::text[], '{}') as names,"
        " coalesce(p.proargmodes::text[], '{}') as modes, p.proconfig as config, p.prosecdef as definer,"
        " p.prorettype::regtype::text as type"
        " from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef"
    )
    outputs = {r["name"]: {n for n, m in zip(r["names"], r["modes"], strict=False) if m in "tob"} for r in rows}
    assert outputs == {name: TOLD.get(name, set()) for name in outputs}
    fixed = [r["name"] for r in rows if "search_path=public, pg_temp" in (r["config"] or ())]
    assert [r["name"] for r in rows if r["name"] not in fixed] == []
    assert [r["name"] for r in rows if r["name"] not in TOLD and r["type"] not in TELLING_NO_MORE] == []
    assert set(outputs) == set(TOLD) | TELLING_NOTHING


async def test_our_functions_are_for_the_serving_role_only(store: Store) -> None:
    free = await store.column(
        "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'public'::regnamespace"
        " and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')"
        " and (has_function_privilege('public', p.oid, 'execute')"
        "      or not has_function_privilege('onevalet_app', p.oid, 'execute'))"
    )
    assert free == []


@pytest.mark.parametrize(
    "statement",
    [
        "create table mine ()",
        "truncate inbound",
        "alter table inbound disable row level security",
        "alter table inbound no force row level security",
        "drop policy one_tenant on inbound",
        "create function f() returns int language sql as 'select 1'",
        "update schema_migrations set checksum = ''",
        "update schema_functions set checksum = ''",
        "select tenant_table('consents')",
        "delete from ignored_messages",
        "select * from consents",
        "update consents set state = 'active'",
        "delete from consents",
        "delete from guesses",
        "delete from pairings",
        "select pg_read_file('PG_VERSION')",
        "select rolpassword from pg_authid",
        "copy inbound to program 'true'",
    ],
)
async def test_the_serving_role_may_do_nothing_else(store: Store, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await store.database.rows(statement)


async def test_the_serving_role_owns_nothing_and_is_no_superuser(store: Store) -> None:
    assert await store.one("select count(*) from pg_class where relowner = 'onevalet_app'::regrole") == 0
    assert await store.one("select count(*) from pg_proc where proowner = 'onevalet_app'::regrole") == 0
    row = await store.admin.fetchrow("select * from pg_roles where rolname = 'onevalet_app'")
    assert row is not None
    rights = [row[c] for c in ("rolsuper", "rolcreaterole", "rolcreatedb", "rolcanlogin", "rolbypassrls")]
    assert rights == [False] * 5


async def test_ids_of_another_tenant_lead_a_function_nowhere(store: Store) -> None:
    ann, _ = await two_people(store)
    await store.enqueue("later", sender=BOB)
    claim = await store.claim_sending("later")
    before = await store.everything()
    # The function sets the tenant that it is told: with Ann's, Bob's row is not there.
    with pytest.raises(LeaseLost):
        await store.outbox.fail(replace(claim, tenant_id=ann), "none of hers")
    assert await store.everything() == before


async def test_promise_11_a_login_for_the_serving_role_has_no_other_rights(store: Store) -> None:
    await store.say("hello", sender=ANN)
    parts = urlsplit(store.url)
    name = f"serving_{parts.path.strip('/')}"
    await store.admin.execute(f"create role {name} login noinherit password 'x'; grant onevalet_app to {name}")
    database = Database(parts._replace(netloc=f"{name}:x@{parts.netloc.rpartition('@')[2]}").geturl(), size=1)
    try:
        row = await database.call("select rolsuper or rolbypassrls as free from pg_roles where rolname = session_user")
        assert row is not None
        assert not row["free"]
        async with database.tenant(await store.db.person()) as connection:
            assert await connection.fetchval("select count(*) from inbound") == 1
        async with database.tenant("") as connection:
            await connection.execute("set local role none")
            assert not await connection.fetchval("select has_table_privilege(session_user, 'inbound', 'select')")
    finally:
        await database.close()
        await store.admin.execute(f"drop role {name}")
