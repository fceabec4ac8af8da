"""`replay`: a turn's journal as JSON lines, and the turn run again without anything happening."""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from abilities.judge.checks import CheckingJudge
from abilities.judge.claims.judge import ASKED_AGAIN, MARKED, Claims
from core.agents.fields import InputField
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, StandardAgent
from core.agents.valet import valet
from core.db.database import Database
from core.errors import ConfigError, ToolFailed
from core.hooks.hooks import Decision, Hook, HookContext, PlannedCall, Rule, Verdict
from core.journal.types import StepKind
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, ModelRequest
from core.tools.storage import Storage
from core.tools.tool import AnyTool, tool
from core.tools.toolbox import ToolRegistry
from core.turns.orchestrator import Orchestrator
from core.turns.stored import TurnEnd
from core.turns.types import TurnState
from onevalet.cli.replay import RECORDED, print_replay, run_again
from onevalet.settings import Settings
from onevalet.wiring.plugins import Plugins
from operations.paths.transcript import Transcript, read_transcript
from tests.core.builders import FakeModel, says, wants
from tests.core.harness import Store, opened
from tests.scripted_model import ScriptedModel, calls, text

SENDER = "+15550000001"

# litellm 1.106 looks through the last piece of a stream in a way that pydantic will drop.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")


@tool
async def send(to: str) -> str:
    """Send something."""
    if to == "nobody":
        raise ToolFailed("There is nobody of that name.")
    return f"sent to {to}"


@tool(effect="read")
async def look(at: str = "") -> str:
    """Look."""
    return f"saw {at}"


TOOLS: list[AnyTool] = [send, look]
SCRIPT = [wants(("look", {"at": "x"}), ("send", {"to": "ann"})), wants(("send", {"to": "nobody"})), says("All done.")]


@dataclass(slots=True)
class Kept:
    """A turn that was run and kept, after an earlier one of the same conversation."""

    store: Store
    turn: str
    settings: Settings

    async def transcript(self) -> Transcript:
        return await read_transcript(self.store.database, self.turn)


@pytest.fixture
async def kept(database_url: str) -> AsyncIterator[Kept]:
    async with opened(database_url) as store:
        await run_turn(store, "before", [says("Yes?")])
        turn = await run_turn(store, "do it", SCRIPT)
        await run_turn(store, "after", [says("Well?")])
        yield Kept(store, turn, Settings(_env_file=None, database_url=SecretStr(database_url)))


async def run_turn(
    store: Store, words: str, script: list[ModelAnswer], agents: AgentRegistry | None = None, hooks: Sequence[Hook] = ()
) -> str:
    await store.say(words, sender=SENDER)
    lease, turn = await store.claim_turn()
    orchestrator = Orchestrator(FakeModel(list(script)), tools=TOOLS, agents=agents, hooks=hooks)
    result = await orchestrator.handle_message(turn.request)
    await store.turns.finish(
        lease,
        turn.turn_id,
        TurnEnd(state=TurnState.DONE, reason="", usage=result.usage, history=result.history, outbound=[]),
        turn.request.work.journal.waiting(),
        None,
    )
    return turn.turn_id


async def again(kept: Kept, model: str = RECORDED, tools: Iterable[AnyTool] = TOOLS) -> list[JsonObject]:
    differences = await run_again(kept.settings, await kept.transcript(), model, Plugins(ToolRegistry(tools)))
    return [difference.to_json() for difference in differences]


async def test_the_journal_is_written_as_json_lines_with_the_labels_of_a_trace(
    kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await print_replay(kept.settings, kept.turn, "", as_json=False)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["kind"] for line in lines] == [
        *("turn", "received", "model", "tool", "tool", "model", "tool", "model"),
    ]
    assert [line.get("label") for line in lines[2:]] == [
        *("THINK", "CALL_TOOL", "CALL_TOOL", "THINK", "ERROR", "RESPOND"),
    ]
    assert lines[0]["id"] == kept.turn
    assert lines[1]["text"] == "do it"
    assert [json.loads(line["arguments"]) for line in lines if line["kind"] == "tool"] == [
        *({"at": "x"}, {"to": "ann"}, {"to": "nobody"}),
    ]


async def test_a_turn_is_given_what_was_said_before_it_and_nothing_of_later(kept: Kept) -> None:
    request = (await kept.transcript()).request
    assert [message.text for message in request.kept.history] == ["before", "Yes?"]
    assert [message.text for message in request.inbound] == ["do it"]


async def test_run_again_over_the_recorded_answers_it_goes_as_it_went(
    kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await again(kept) == []
    assert not await print_replay(kept.settings, kept.turn, RECORDED, as_json=False)
    output = capsys.readouterr().out  # the shipped tools are others than the turn's
    assert "It diverges at step 0.1.\n" in output
    assert "There is no tool named 'look'" in output


async def test_an_answer_that_was_asked_again_and_marked_is_repeated_so(kept: Kept) -> None:
    claims = [says("I've booked the table."), says("I've booked the table.")]
    turn = await run_turn(kept.store, "Book a table", claims, hooks=[CheckingJudge(2, 3, Claims())])
    transcript = await replace(kept, turn=turn).transcript()
    assert [row.name for row in transcript.rows if row.kind is StepKind.JUDGE] == [ASKED_AGAIN, MARKED]
    assert await run_again(kept.settings, transcript, RECORDED, Plugins(ToolRegistry(TOOLS))) == []


async def test_no_tool_is_run_again(kept: Kept) -> None:
    async def never(to: str) -> str:
        raise AssertionError("it was run")

    assert await again(kept, tools=[replace(send, fn=never), look]) == []


async def test_a_tool_that_has_changed_shows_where_the_turn_diverges(kept: Kept) -> None:
    @tool(name="send")
    async def changed(recipient: str) -> str:
        """Send something."""
        return ""

    [first, second] = await again(kept, tools=[changed, look])
    assert (first["step"], second["step"]) == ("0.2", "1.1")
    assert first["recorded"] == ["send", "ok", "sent to ann"]
    assert "recipient (required)" in str(first["now"])


@valet(name="Sender")
class Sender(StandardAgent):
    """Send to somebody."""

    recipient = InputField("To whom?")

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(raw_message=f"sent to {self.recipient}")


async def test_an_agents_result_is_the_recorded_one(kept: Kept) -> None:
    script = [wants(("Sender", {"recipient": "ann"})), says("Done.")]
    turn = await run_turn(kept.store, "send it", script, agents=AgentRegistry([Sender]))
    plugins = Plugins(ToolRegistry(TOOLS), (Sender,))
    assert await run_again(kept.settings, await read_transcript(kept.store.database, turn), RECORDED, plugins) == []


class Kindly(Hook):
    """Change what a tool is asked for, and what it said."""

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        return replace(answer, text=f"{answer.text} :)") if not answer.tool_calls else answer


class Wary(Rule):
    """Ask about everything, and forbid one thing."""

    async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
        if call.arguments.get("to") == "ann":
            return Verdict(Decision.DENY, "not Ann")
        return Verdict(Decision.APPROVE)


async def test_a_replay_runs_hooks_and_rules_and_treats_approvals_as_granted(kept: Kept) -> None:
    plugins = Plugins(ToolRegistry(TOOLS), hooks=(Kindly(), Wary()))
    differences = await run_again(kept.settings, await kept.transcript(), RECORDED, plugins)
    assert [(difference.step, difference.what, difference.recorded, difference.now) for difference in differences] == [
        ("0.2", "result", ["send", "ok", "sent to ann"], ["send", "refused", "Not run: not Ann"]),
        ("2.0", "answer", "All done.", "All done. :)"),
    ]


async def test_rules_of_the_file_take_part(kept: Kept, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[rules]]\nname = "new"\ntools = ["send"]\ndecision = "approve"\n'
        'when = [{argument = "to", first_time = true}]\n'
        '[[rules]]\nname = "never"\ntools = ["look"]\ndecision = "deny"\nreason = "eyes shut"\n'
    )
    settings = kept.settings.model_copy(update={"onevalet_rules": rules, "onevalet_judge": "model"})
    storage = Storage(kept.store.database)
    plugins = Plugins(ToolRegistry(TOOLS))
    differences = await run_again(settings, await kept.transcript(), RECORDED, plugins, storage)
    assert [(difference.step, difference.now) for difference in differences] == [
        ("0.1", ["look", "refused", "Not run: eyes shut"])
    ]
    assert await kept.store.db.stored_values.count() == 0, "nothing is kept"


async def test_a_live_model_is_asked_and_what_it_does_otherwise_is_shown(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedModel([calls(("send", {"to": "ann"}), ("look", {"at": "y"})), text("All done.")]) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        differences = await again(kept, "openai/scripted")
    assert model.calls[0].new_user_texts == ["do it"]
    results = list(model.calls[1].tool_results.values())
    assert results == ["sent to ann", "This call is not in the record, so it has no result: nothing was run."]
    assert [(difference["step"], difference["what"]) for difference in differences] == [
        *(("0.0", "calls"), ("0.1", "result"), ("0.2", "result")),
        *(("1.0", "calls, now answer"), ("1.1", "result, now nothing"), ("2.0", "answer, now nothing")),
    ]


async def test_what_came_in_while_it_ran_comes_in_at_the_same_step_again(database_url: str) -> None:
    async with opened(database_url) as store:
        await store.say("first", sender=SENDER)
        lease, turn = await store.claim_turn()

        async def meanwhile(request: ModelRequest) -> ModelAnswer:
            await store.say("second", sender=SENDER)
            return wants(("look", {"at": "x"}))

        model = FakeModel([meanwhile, says("Both.")])
        result = await Orchestrator(model, tools=TOOLS).handle_message(turn.request)
        end = TurnEnd(TurnState.DONE, usage=result.usage, history=result.history, absorbed=result.absorbed)
        await store.turns.finish(lease, turn.turn_id, end, turn.request.work.journal.waiting(), None)
        transcript = await read_transcript(store.database, turn.turn_id)
        settings = Settings(_env_file=None)
        differences = await run_again(settings, transcript, RECORDED, Plugins(ToolRegistry(TOOLS)))
    assert [message.text for message in transcript.request.inbound] == ["first"]
    assert [(step, message.text) for step, messages in transcript.steered.items() for message in messages] == [
        (1, "second")
    ]
    assert differences == []


async def test_an_id_that_leads_to_no_turn_is_an_error_in_a_sentence(database_url: str) -> None:
    database = Database(database_url)
    with pytest.raises(ConfigError, match=r"^No turn is known by nonsense: give the id of a turn"):
        await read_transcript(database, "nonsense")
    await database.close()
