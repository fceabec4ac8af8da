"""Forget is complete: rows, vectors, terms, indexes, and what was said about it, in a dump of the whole database."""

import json
from datetime import timedelta

import pytest

from abilities.memory.index.typeagent_index import StructuredQuery
from tests.abilities.memory.harness import caught_up, holding, make_momex
from tests.abilities.memory.talk import CANARY, Talk
from tests.core.harness import opened

BESIDE = (
    "approvals",
    "approval_audit",
    "profile_facts",
    "events",
    "notifications",
    "tasks",
    "task_runs",
    "run_notices",
)


@pytest.mark.xdist_group("typeagent")
async def test_what_is_forgotten_is_nowhere_in_a_dump_nor_in_any_workers_index(database_url: str) -> None:
    async with opened(database_url) as store:
        mine = make_momex(store.database, structured=True)
        other = make_momex(store.database, structured=True)
        talk = Talk(store, mine)
        await talk.turn(f"I spent my holidays in {CANARY}. I like tea.", "Lovely!")
        await talk.turn("Where was I?", f"You told me that you were in {CANARY}.")
        assert await holding(mine, talk.tenant_id) == [
            f"I spent my holidays in {CANARY}.", "I like tea.", f"You told me that you were in {CANARY}.",
        ]  # fmt: skip
        assert await caught_up(other, talk.tenant_id) == {talk.tenant_id: 3}
        await put_beside(talk, pending=False)
        before = await talk.dump()
        assert set(BESIDE) <= set(before)
        assert {"inbound", "history", "steps", "outbound", "outbound_parts", "memories", "memory_terms"} <= set(before)
        await talk.turn(f"Forget {CANARY}", f"I know that you were in {CANARY}. Forget it?", act="ask")
        await talk.turn("yes", f"Done. {CANARY} is gone.", act="forget")
        assert await talk.dump() == {}
        assert await holding(mine, talk.tenant_id) == ["I like tea."]
        for momex in (mine, other):
            assert await caught_up(momex, talk.tenant_id) == {talk.tenant_id: 1}
            assert momex.indexes is not None
            query = StructuredQuery((CANARY.lower(),))
            assert await momex.indexes.search(talk.tenant_id, query, 5, await momex.store.version(talk.tenant_id)) == []
            await momex.close()


async def test_a_pending_approval_keeps_its_sealed_text_until_it_is_decided(database_url: str) -> None:
    async with opened(database_url) as store:
        talk = Talk(store, make_momex(store.database))
        await talk.turn(f"I collect stamps from {CANARY}.", "Nice!")
        await put_beside(talk, pending=True)
        sealed = await store.one("select a::text from approvals a")
        await talk.turn("Forget that.", "Shall I?", act="ask")
        await talk.turn("yes", "Done.", act="forget")
        assert await store.one("select a::text from approvals a") == sealed
        waits = {*BESIDE, "memory_forgettings"} - {"profile_facts", "events"}
        assert set(await talk.dump()) == waits
        await store.db.approvals.change({"state": "cancelled"})
        await store.db.notifications.change({"state": "sent", "not_before": None})
        await store.db.run_notices.change({"state": "handed_over"})
        await store.db.tasks.change({"state": "COMPLETED"})
        await store.db.task_runs.change({"state": "COMPLETED"})
        await talk.momex.work.tidy(talk.momex.clock.now())
        assert await talk.dump() == {}


async def test_redacted_tool_arguments_stay_json_and_profile_facts_are_deleted(database_url: str) -> None:
    async with opened(database_url) as store:
        talk = Talk(store, make_momex(store.database))
        await talk.turn(f"I collect stamps from {CANARY}.", "Nice!")
        await put_beside(talk, pending=False)
        await talk.turn("Forget that.", "Shall I?", act="ask")
        await talk.turn("yes", "Done.", act="forget")
        [call, *_] = [
            json.loads(str(result))["tool_calls"][0]
            for result in await store.column("select result::text from steps order by started_at")
        ]
        assert call == {"id": "c1", "name": "look", "arguments": "{}"}
        assert await store.db.profile_facts.column("value") == []


async def test_fields_of_a_waiting_agent_are_redacted_once_it_ends(database_url: str) -> None:
    async with opened(database_url) as store:
        talk = Talk(store, make_momex(store.database))
        await talk.turn(f"I collect stamps from {CANARY}.", "Nice!")
        await put_in_pool(talk)
        await talk.turn("Forget that.", "Shall I?", act="ask")
        await talk.turn("yes", "Done.", act="forget")
        assert set(await talk.dump()) == {"pool_entries", "memory_forgettings"}
        await store.db.pool_entries.change({"status": "CANCELLED"})
        await talk.momex.work.tidy(talk.momex.clock.now())
        assert await talk.dump() == {}


async def put_in_pool(talk: Talk) -> None:
    """Let an agent wait that has collected the word."""
    await talk.store.admin.execute(
        "insert into pool_entries (tenant_id, agent_id, agent_type, turn_id, agent_path, tool_call_id, status,"
        " schema_version, collected_fields, expires_at)"
        " select $1, 'g1', 'stamps', id, '0.1', 'c9', 'WAITING_FOR_INPUT', '1', $2, $3 from turns limit 1",
        talk.tenant_id, json.dumps({"what": f"A stamp from {CANARY}."}), talk.momex.clock.now() + timedelta(days=9),
    )  # fmt: skip


async def put_beside(talk: Talk, *, pending: bool) -> None:
    """Write a row of each table beside talk that holds the word; `pending`: still to be decided, told or run."""
    turn_id = await talk.store.one("select id from turns limit 1")
    statement = f"A stamp from {CANARY}."
    held = json.dumps({"text": statement, "list": [statement]})
    admin, who, now = talk.store.admin, talk.tenant_id, talk.momex.clock.now()
    await admin.execute(
        "insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments,"
        " shown, code, token, timeout, sealed_head, sealed_tail, state, created_at)"
        " values ($1,'a1',$2,'0.1',1,'c','buy',$3,$4,$7,'7K','t1','1 hour',$3,$3,$5,$6)",
        who, turn_id, statement, held, "pending" if pending else "cancelled", now,
        json.dumps([["What", statement]]),
    )  # fmt: skip
    await admin.execute(
        "insert into approval_audit (tenant_id, approval_id, at, what, detail) values ($1,'a1',$2,'requested',$3)",
        who, now, held,
    )  # fmt: skip
    # Never sent, so nothing of it was worded.
    await admin.execute(
        "insert into outbound (tenant_id, id, conversation_id, kind, text, sentences, state, seq)"
        " select $1, 'o1', id, 'receipt', '', $2, 'failed', 99 from conversations where tenant_id = $1 limit 1",
        who, json.dumps([{"key": "approve", "values": {"code": "7K", "summary": statement}}]),
    )  # fmt: skip
    await admin.execute(
        "insert into profile_facts (tenant_id, id, number, key, value, source, since)"
        " values ($1,'f1',1,'hobby',$2,'told',$3)",
        who, statement, now,
    )  # fmt: skip
    await admin.execute(
        "insert into events (tenant_id, source, id, type, data, occurred_at) values ($1,'mail','e1','new',$2,$3)",
        who, held, now,
    )  # fmt: skip
    await admin.execute(
        "insert into notifications (tenant_id, id, category, urgency, title, text, dedupe_key, state, at, not_before)"
        " values ($1,'n1','task','low',$2,$2,'k',$3,$4,$5)",
        who, statement, "held" if pending else "sent", now, now if pending else None,
    )  # fmt: skip
    await admin.execute(
        "insert into tasks (tenant_id, id, number, title, kind, trigger, action, state, anchor, created_at)"
        " values ($1,'t1',1,$2,'schedule','{}',$3,$4,$5,$5)",
        who, statement, held, "ACTIVE" if pending else "COMPLETED", now,
    )  # fmt: skip
    await admin.execute(
        "insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, cause)"
        " values ($1,'r1','t1','o',$2,$3,$4)",
        who, now, "QUEUED" if pending else "COMPLETED", held,
    )  # fmt: skip
    await admin.execute(
        "insert into run_notices (tenant_id, run_id, key, text, state) values ($1,'r1','k',$2,$3)",
        who, statement, "open" if pending else "handed_over",
    )  # fmt: skip


async def test_what_is_on_its_way_is_blotted_out_once_it_has_arrived(database_url: str) -> None:
    async with opened(database_url) as store:
        talk = Talk(store, make_momex(store.database))
        await talk.turn(f"I collect stamps from {CANARY}.", "Nice!")
        await talk.turn("Forget that.", "Shall I?", act="ask")
        await store.say("yes")
        lease, turn = await store.claim_turn()
        assert await talk.momex.for_tenant(lease.tenant_id, turn.turn_id).forget() == 1
        assert not await store.finish(lease, turn, f"The stamps from {CANARY} are forgotten.")
        await talk.work()
        assert set(await talk.dump()) == {"outbound", "memory_forgettings"}, "a reply may not change on its way"
        before = await talk.momex.store.version(lease.tenant_id)
        await talk.momex.work.tidy(talk.momex.clock.now())
        assert await talk.momex.store.version(lease.tenant_id) == before, "no index is rebuilt while it waits"
        await store.send(await store.claim_sending(f"The stamps from {CANARY} are forgotten."))
        await talk.momex.work.tidy(talk.momex.clock.now())
        assert await talk.dump() == {}


async def test_phrases_of_what_stays_pending_are_given_up_in_the_end(database_url: str) -> None:
    async with opened(database_url) as store:
        talk = Talk(store, make_momex(store.database))
        await talk.turn(f"I collect stamps from {CANARY}.", "Nice!")
        await put_beside(talk, pending=True)
        await talk.turn("Forget that.", "Shall I?", act="ask")
        await talk.turn("yes", "Gone.", act="forget")
        now = talk.momex.clock.now()
        for days, left in ((0, 1), (29, 1), (31, 0)):
            await talk.momex.work.tidy(now + timedelta(days=days))
            assert len(await store.db.memory_forgettings.column("id")) == left


async def test_a_job_whose_worker_died_is_done_by_another_and_adds_nothing_twice(database_url: str) -> None:
    async with opened(database_url) as store:
        momex = make_momex(store.database)
        talk = Talk(store, momex)
        await store.say("I like tea.")
        lease, turn = await store.claim_turn()
        talk.tenant_id = lease.tenant_id
        assert not await store.finish(lease, turn, "Noted, you like your tea hot.")
        first = await momex.work.claim(turn.turn_id, "dead")
        assert first is not None
        assert (first.tenant_id, first.id, first.attempts) == (lease.tenant_id, turn.turn_id, 1)
        assert await momex.work.claim(turn.turn_id, "w2") is None, "it is held"
        await momex.work._do(first)  # all of it, and then the worker dies
        await store.admin.execute("update memory_jobs set lease_until = now() - interval '1 second'")
        assert await momex.work.claim(turn.turn_id, "w2") is None, "what kills workers may not do so all the time"
        await store.admin.execute("update memory_jobs set not_before = now()")
        await talk.work()
        assert await holding(momex, lease.tenant_id) == ["I like tea.", "Noted, you like your tea hot."]
        assert await store.db.memory_jobs.column("id") == []


async def test_everybodys_forgetting_is_seen_to_however_many_there_are(database_url: str) -> None:
    seen: set[str] = set()
    async with opened(database_url) as store:
        await store.admin.execute(
            "with people as ("
            " insert into tenants (tenant_id) select 'tenant_' || n from generate_series(1, 250) n returning *)"
            " insert into memory_forgettings (tenant_id, id, memory_ids, confirmed, expires_at)"
            " select tenant_id, 'forget', '{}', true, now() + interval '1 day' from people"
        )
        for _ in range(60):
            rows = await store.database.rows("select * from tidy_memory(now())")
            assert len(rows) == 100
            seen |= {row["tenant_id"] for row in rows}
    assert len(seen) == 250
