"""Claims take as many rows as they were asked for, whatever plan Postgres makes."""

import re

import asyncpg
import pytest

from onevalet.migrating import all_functions
from tests.core.harness import Store

# Leaves the planner nested loops only. A table that was analyzed with one row in it is their outer side, and the inner
# one runs once per outer row.
_NESTED = "".join(
    f"set enable_{name} = off;" for name in ("hashjoin", "mergejoin", "material", "memoize", "indexscan", "bitmapscan")
)
_SEVERAL = "from generate_series($1::int, $2::int) n"
_ROWS = {
    "redraws": f"insert into redraws (tenant_id, outbound_id, outcome, outcome_at)"
    f" select 'ann', 'o' || n, 'expired', now() {_SEVERAL}",
    "memory_jobs": f"insert into memory_jobs (tenant_id, id) select 'ann', 'j' || n {_SEVERAL}",
    "run_notices": f"insert into run_notices (tenant_id, run_id, key, text) select 'ann', 'r', 'k' || n, '' {_SEVERAL}",
    "event_work": "insert into event_work (tenant_id, source, event_id, group_name)"
    f" select 'ann', 's', 'e' || n, 'g' {_SEVERAL}",
    "events": "insert into events (tenant_id, source, id, type, data, occurred_at, received_at)"
    f" select 'ann', 's', 'e' || n, 't', '{{}}', now(), now() - interval '9 days' {_SEVERAL}",
}
CLAIMS = [
    ("redraws", "select count(*) from claim_redraw('20 seconds')"),
    ("memory_jobs", "select count(*) from claim_memory_job(null, 'w1', '20 seconds')"),
    ("run_notices", "select count(*) from claim_notices(1, '20 seconds')"),
    ("event_work", "select count(*) from claim_next_event('g', 'own_1', '20 seconds')"),
    ("events", "select pruned from prune_events(now(), 1)"),
]


async def prepare(admin: "asyncpg.Connection[asyncpg.Record]", table: str) -> None:
    await admin.execute("set session_replication_role = replica")  # rows without those that they belong to
    await admin.execute("insert into tenants (tenant_id) values ('ann')")
    for numbers in ((1, 1), (2, 4)):
        await admin.execute(
            "insert into outbound (tenant_id, id, conversation_id, seq, kind, text, state)"
            f" select 'ann', 'o' || n, 'c', n, 'card', '', 'sent' {_SEVERAL}",
            *numbers,
        )
        await admin.execute(_ROWS[table], *numbers)
        if numbers == (1, 1):
            await admin.execute(f"analyze {table}")
    await admin.execute("set session_replication_role = origin")


@pytest.mark.parametrize(("table", "claim"), CLAIMS, ids=[table for table, _ in CLAIMS])
async def test_a_claim_of_one_takes_one_row_under_any_plan(store: Store, table: str, claim: str) -> None:
    await prepare(store.admin, table)
    await store.admin.execute(_NESTED)
    assert await store.one(claim) == 1


_HASHED = (
    "set enable_nestloop = off; set enable_mergejoin = off; set enable_indexscan = off; set enable_bitmapscan = off"
)
_BACKWARDS = "from generate_series(1, 9) n order by n desc"
_AGES = "now() - interval '1 hour' + n * interval '1 minute'"
_IN_ORDER = {
    "claim_talk": (
        f"insert into profile_jobs (tenant_id, turn_id, not_before) select 'ann', 'k' || n, {_AGES} {_BACKWARDS}",
        "select turn_id from claim_talk('w1', '1 minute', 9, '1 minute', 9)",
    ),
    "claim_notices": (
        "insert into run_notices (tenant_id, run_id, key, text, next_attempt_at)"
        f" select 'ann', 'r', 'k' || n, '', {_AGES} {_BACKWARDS}",
        "select key from claim_notices(9, '20 seconds')",
    ),
    "claim_mail_watches": (
        "insert into mail_watches (tenant_id, id, service, account_name, revision, next_attempt_at)"
        f" select 'ann', 'k' || n, 's', 'a' || n, 1, {_AGES} {_BACKWARDS}",
        "select watch_id from claim_mail_watches('w1', '20 seconds', 9)",
    ),
    "claim_wishes": (
        "insert into reminder_wishes (tenant_id, id, from_id, from_name, text, at, made_at, untold, next_attempt_at)"
        f" select 'ann', 'k' || n, 'f', '', '', now(), now(), true, {_AGES} {_BACKWARDS}",
        "select wish_id from claim_wishes(now(), 9)",
    ),
    "claim_household_news": (
        "insert into household_news (tenant_id, id, kind, about, next_attempt_at)"
        f" select 'ann', 'k' || n, 'left', '{{}}', {_AGES} {_BACKWARDS}",
        "select id from claim_household_news(9)",
    ),
    "claim_asked_groups": (
        "insert into group_chats (tenant_id, channel, account, peer, state, asked_by, asked_key, next_attempt_at)"
        f" select 'k' || n, 'telegram', 'a', 'k' || n, 'asked', 'ann', 'u', {_AGES} {_BACKWARDS}",
        "select tenant_id from claim_asked_groups(9)",
    ),
    "claim_lapsed_answers": (
        "insert into held_answers (tenant_id, outbound_id, segments, asked_at, until, next_attempt_at)"
        f" select 'ann', 'k' || n, 14, now(), {_AGES}, now() {_BACKWARDS}",
        "select outbound_id from claim_lapsed_answers(now(), 9)",
    ),
    "claim_followups": (
        f"insert into tenants (tenant_id) select 'k' || n {_BACKWARDS};"
        f"insert into followup_choices (tenant_id, look_at) select 'k' || n, {_AGES} {_BACKWARDS}",
        "select tenant_id from claim_followups(now(), 9)",
    ),
    "claim_limits_to_lift": (
        "insert into household_limits (tenant_id, key, given, state, next_attempt_at)"
        f" select 'k' || n, 'k', '', 'lift', {_AGES} {_BACKWARDS}",
        "select tenant_id from claim_limits_to_lift(9)",
    ),
    "claim_new_places": (
        "insert into seen_places (tenant_id, id, how, latitude, longitude, at, next_attempt_at)"
        f" select 'ann', 'k' || n, 'sent', 40, 7, now(), {_AGES} {_BACKWARDS}",
        "select id from claim_new_places(9)",
    ),
    "claim_joint": (
        "insert into turns (tenant_id, id, lane_id, conversation_id, fence) values ('ann', 't', 'c', 'c', 1);"  # noqa: S608
        "insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments,"
        " shown, code, token, timeout, sealed_head, sealed_tail, created_at)"
        f" select 'ann', 'k' || n, 't', '', 1, 'c', '', '', '{{}}', '[]', 'k' || n, 'k' || n, '1 hour', '', '', now()"
        f" {_BACKWARDS};"
        "insert into joint_consents (tenant_id, approval_id, other_id, other_name, summary, shown, form, second_id,"
        " made_at, next_attempt_at)"
        f" select 'ann', 'k' || n, 'ben', '', '', '[]', '[]', 's', now(), {_AGES} {_BACKWARDS}",
        "select approval_id from claim_joint(now(), 9)",
    ),
    "claim_due_accounts": (
        "insert into credentials (tenant_id, service, account_name, attend_at, key_version, credentials_json)"
        f" select 'ann', 's', 'k' || n, {_AGES}, 1, '' {_BACKWARDS}",
        "select account_name from claim_due_accounts('ann', '20 seconds')",
    ),
}


@pytest.mark.parametrize("claim", _IN_ORDER)
async def test_a_claim_of_several_keeps_their_order_under_any_plan(store: Store, claim: str) -> None:
    rows, call = _IN_ORDER[claim]
    await store.admin.execute("set session_replication_role = replica")
    await store.admin.execute(rows)
    await store.admin.execute("set session_replication_role = origin")
    await store.admin.execute(_HASHED)
    claimed = [row[0] for row in await store.admin.fetch(call)]
    assert claimed == [f"k{number}" for number in range(1, 10)]


_SEVERAL_CLAIMED = re.compile(r"(?<!limit 1) for (?:no key )?update(?: of \w+)? skip locked\)")
_ROWS_RETURNED = re.compile(r"returning (?!1\b)")


def test_every_function_that_claims_several_gives_them_an_order() -> None:
    pieces = {name: text for file in all_functions() for name, text in file.pieces() if name}
    claims = {name for name, text in pieces.items() if _SEVERAL_CLAIMED.search(text) and _ROWS_RETURNED.search(text)}
    unordered = {name for name in claims if "order by" not in _ROWS_RETURNED.split(pieces[name])[-1]}
    assert claims == _IN_ORDER.keys()
    assert unordered == set()
