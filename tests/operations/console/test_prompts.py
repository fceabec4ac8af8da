"""A model's step opens to the prompt as it was sent, for those who may read texts, as long as it is kept."""

from core.journal.prompts import SentPrompt
from core.journal.types import StepKey, StepKind, StepRecord, StepState
from core.llm.types import ChatMessage, Marker, ModelLayer, ModelRequest, Role, ToolCall, ToolSpec
from tests.core.harness import Store, opened
from tests.operations.console.harness import ANN, BOB, Console, open_console

EVIL = "<img src=x onerror=alert(1)>"
CALL = ToolCall("c1", "read_file", f'{{"name": "{EVIL}.pdf"}}')
FIRST = (
    ChatMessage(Role.SYSTEM, "You are a valet."),
    ChatMessage(Role.USER, f"File: {EVIL}.pdf", marker=Marker.FILE, pictures=(b"jpeg",)),
    ChatMessage(Role.USER, f"My secret is tea. {EVIL}"),
)
SECOND = (
    *FIRST,
    ChatMessage(Role.ASSISTANT, "", (CALL,)),
    ChatMessage(Role.TOOL, f"BEGIN {EVIL} END", tool_call_id="c1", name="read_file", outside=True),
)
TOOLS = (ToolSpec("read_file", "Read a file.", {}), ToolSpec("send_letter", "Send a letter.", {}))


async def ask_model(store: Store, sender: str = BOB) -> str:
    """Let a turn of a person ask a model twice; return the turn's id."""
    await store.say("What is in it?", sender=sender)
    lease, turn = await store.claim_turn()
    for step, messages in enumerate((FIRST, SECOND)):
        prompt = SentPrompt(ModelRequest(messages, TOOLS), ModelLayer("openai/gpt-5", 1))
        record = StepRecord(StepKey(step, 0), StepKind.MODEL, "gpt-5", StepState.DONE, prompt=prompt)
        await turn.request.work.journal.write(record)
    await store.finish(lease, turn, "Tea.")
    return turn.turn_id


async def test_a_person_opens_a_step_to_its_prompt(console: Console) -> None:
    turn = await ask_model(console.store)
    async with console.browser(BOB) as browser:
        await browser.get(f"/console/turns/{turn}")
        for part in (
            "Prompt as sent: 3 messages, 2 tools", "Prompt as sent: 5 messages, 2 tools", "sent to openai/gpt-5",
            "layer 1", "key 1", "tools read_file, send_letter", "You are a valet.", "user, file", "[picture, 4 bytes]",
            "It begins with the 3 messages of the step before", "result of read_file, written by others",
        ):  # fmt: skip
            assert part in browser.text, part
        assert browser.text.count("You are a valet.") == 1, "the second step shows what is new"
        assert browser.page.count("&lt;img") == 4, "the file, the message, the call and the result"
        assert "<img" not in browser.page
        await console.store.db.prompts.delete(step=0)
        await browser.get(f"/console/turns/{turn}")
        assert browser.text.count("The prompt of this step is not kept") == 1
        assert "You are a valet." in browser.text, "the first that is kept is shown whole"


async def test_prompts_are_shown_to_nobody_else(console: Console) -> None:
    turn = await ask_model(console.store)
    async with console.browser(ANN) as browser:
        await browser.get(f"/console/turns/{turn}")
        assert "Texts are hidden" in browser.text
        for word in ("Prompt as sent", "valet.", "secret", "not kept"):
            assert word not in browser.text, word
    own = await console.store.db.turns.one("id", tenant_id=await console.tenant(ANN))
    async with console.browser(BOB) as browser:
        assert await browser.get(f"/console/turns/{own}") == 404


async def test_an_operator_reads_prompts_by_the_setting_and_is_recorded(database_url: str) -> None:
    async with opened(database_url) as store, open_console(store, texts=True) as console:
        turn = await ask_model(store)
        async with console.browser(ANN) as browser:
            await browser.get(f"/console/turns/{turn}")
            assert "You are a valet." in browser.text
        looks = await store.admin.fetch("select tenant_id, viewer, what, subject from console_looks")
        assert [tuple(look) for look in looks] == [(await console.tenant(BOB), await console.tenant(ANN), "turn", turn)]
