"""Prompts as they were sent: kept with the model's step, for a time, and not longer than what they say may be known."""

from datetime import UTC, datetime, timedelta

from abilities.memory.forgetting import Forgetter
from core.clock import Clock
from core.journal.in_memory import MemoryJournal
from core.journal.prompts import KeptPrompt, SentPrompt
from core.journal.types import StepKey, StepKind, StepRecord, StepState
from core.llm.types import ChatMessage, ModelLayer, ModelRequest, Role, ToolCall, ToolSpec
from core.tools.tool import tool
from jobs.upkeep.retention import prune_prompts
from tests.core.builders import run_loop, says, wants
from tests.core.harness import Store

PICTURE = b"\xff\xd8 a picture"
CALL = ToolCall("c1", "read", '{"page": 1}', {"signature": "for the provider"})
MESSAGES = (
    ChatMessage(Role.SYSTEM, "You are a valet."),
    ChatMessage(Role.USER, "What is this? \x00\ud800", pictures=(PICTURE,), state={"groups": ["mail"]}),
    ChatMessage(Role.ASSISTANT, "", (CALL,), thinking=({"signature": "theirs"},)),
    ChatMessage(Role.TOOL, "BEGIN a page END", tool_call_id="c1", outside=True),
)
PROMPT = SentPrompt(
    ModelRequest(MESSAGES, (ToolSpec("read", "Read a page.", {}),), layer=1), ModelLayer("openai/second", 2)
)
KEPT = "select count(*) from prompts"


def asked(step: int = 0) -> StepRecord:
    return StepRecord(StepKey(step, 0), StepKind.MODEL, "second", StepState.DONE, prompt=PROMPT)


@tool(effect="read")
async def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word} means nothing"


async def test_a_models_step_is_written_with_the_prompt_it_was_sent(store: Store) -> None:
    await store.say("hello")
    _, turn = await store.claim_turn()
    for _ in range(2):  # a repeat changes nothing
        await turn.request.work.journal.write(asked())
    kept = KeptPrompt.unpack(bytes(await store.db.prompts.one("packed")))  # type: ignore[call-overload]
    assert (kept.model, kept.layer, kept.key, kept.tools) == ("openai/second", 2, 2, ("read",))
    texts = ["You are a valet.", "What is this? \ufffd", "", "BEGIN a page END"]
    assert [one.message.text for one in kept.messages] == texts
    assert [one.pictures for one in kept.messages] == [(), (len(PICTURE),), (), ()], "by size, never bytes"
    assert [one.message.outside for one in kept.messages] == [False, False, False, True]
    [call] = kept.messages[2].message.tool_calls
    assert (call.name, call.arguments, call.extra) == ("read", '{"page": 1}', {})
    assert not kept.messages[2].message.thinking, "what a provider signs is nobody's to read"


async def test_the_loop_hands_each_prompt_to_the_journal() -> None:
    journal = MemoryJournal()
    _, model = await run_loop([wants(("look_up", {"word": "tea"})), says("Nothing.")], [look_up], journal=journal)
    steps = [step for step in await journal.recorded() if step.kind is StepKind.MODEL]
    sent = [request.messages for request in model.requests]
    assert [step.prompt.request.messages for step in steps if step.prompt] == sent
    assert [len(messages) for messages in sent] == [2, 4]


async def test_prompts_are_deleted_when_their_time_is_over(store: Store) -> None:
    await store.say("hello")
    _, turn = await store.claim_turn()
    for step in range(3):
        await turn.request.work.journal.write(asked(step))
    await store.admin.execute("update prompts set created_at = now() - interval '25 hours' where step = 0")
    assert await prune_prompts(store.database, Clock(), timedelta(hours=24)) == 1
    assert await store.db.prompts.column("step", order="step") == [1, 2]
    assert await prune_prompts(store.database, Clock(), timedelta()) == 2, "0 hours: none is left"


async def test_to_forget_deletes_all_prompts_and_keeps_none_until_it_is_done(store: Store) -> None:
    await store.say("hello")
    lease, turn = await store.claim_turn()
    tenant, now = lease.tenant_id, datetime.now(UTC)
    forgetter = Forgetter(store.database, store.make_id)
    await turn.request.work.journal.write(asked(0))
    asking = await forgetter.ask(tenant, [], None, "a page", now, 0)
    assert await store.one(KEPT) == 1, "nothing is forgotten before they agree"
    await forgetter.confirm(tenant, asking.id, now)
    assert await store.one(KEPT) == 0
    await turn.request.work.journal.write(asked(1))
    assert await store.one(KEPT) == 0, "what is being forgotten stands in this turn's prompt"
    assert not await forgetter.redact(tenant, now), "the turn still knows it"
    assert not await store.finish(lease, turn, "hi")
    await store.send(await store.claim_sending("hi"))
    assert await forgetter.redact(tenant, now)
    await store.say("again")
    _, later = await store.claim_turn()
    await later.request.work.journal.write(asked(0))
    assert await store.one(KEPT) == 1
    await store.database.rows("select redact($1,$2)", tenant, ["anything"])
    assert await store.one(KEPT) == 0
