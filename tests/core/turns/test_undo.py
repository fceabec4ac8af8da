"""Undo: one word, and one tool, take back what calls offered to take back; through the gate, once, and for a while."""

from collections.abc import AsyncIterator

import pytest

from core.errors import ToolFailed
from core.hooks.hooks import Decision, HookContext, PlannedCall, Rule, Verdict
from core.llm.types import ModelAnswer, ModelRequest
from core.tools.context import ToolExecutionContext
from core.tools.tool import tool
from core.tools.undo_store import UndoRecord, UndoStore, number_of
from jobs.upkeep.schedule import forget_expired
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants

AWAY: list[str] = []
# Of the tools below, those whose order counts run one after the other: calls of one answer may end in any order.


@tool(name="put_away", effect="idempotent", parallel=False)
async def put_away(what: str, context: ToolExecutionContext, minutes: int = 60) -> str:
    """Put something away."""
    assert context.undo.offer(f"Put away: {what}", "take_out", {"what": what}, minutes=minutes)
    if what == "nothing":
        raise ToolFailed("There is no such thing.")
    AWAY.append(what)
    return f"The {what} is away."


@tool(name="take_out", effect="once", inverse=True)
async def take_out(what: str) -> str:
    """Take something out again."""
    if what not in AWAY:
        raise ToolFailed(f"Somebody has taken the {what} out since.", note="Do not look for it.")
    AWAY.remove(what)
    return f"Undone: the {what} is out again."


@tool(name="throw_away", effect="once", parallel=False)
async def throw_away(what: str, context: ToolExecutionContext) -> str:
    """Throw something away."""
    context.undo.final(f"Thrown away: {what}", "The bin is empty; buy another one.")
    return f"The {what} is gone."


@tool(name="lock_away", effect="idempotent")
async def lock_away(what: str, context: ToolExecutionContext) -> str:
    """Lock something away."""
    AWAY.append(what)
    context.undo.offer(f"Locked away: {what}", "break_open", {"what": what})
    return f"The {what} is locked away."


@tool(name="break_open", effect="once", inverse=True, needs_approval=True)
async def break_open(what: str) -> str:
    """Break a lock open."""
    AWAY.remove(what)
    return f"Undone: the lock is broken, and the {what} is out."


@pytest.fixture
async def system(database_url: str, clock: StandingClock) -> AsyncIterator[Approving]:
    """Yield a person on SMS whose every statement to the database is repeated."""
    AWAY.clear()
    async with open_approving(SmsHarness, database_url, clock, twice=True) as system:
        system.more = [put_away, take_out, throw_away, lock_away, break_open]
        yield system


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


async def does(system: Approving, *calls: tuple[str, dict[str, object]], said: str = "Done.") -> str:
    """Let the person ask for something that the model does by these calls; return what they then read."""
    system.model.script[:] = [wants(*calls), says(said)]  # type: ignore[arg-type]
    await system.say("please")
    assert system.model.script == []
    return system.last()


async def tells(system: Approving, text: str) -> str:
    """Let the person write what no model is asked about; return what they then read."""
    system.model.script[:] = []
    await system.say(text)
    return system.last()


async def test_the_word_takes_back_the_newest_and_names_it(system: Approving) -> None:
    await does(system, ("put_away", {"what": "cup"}), ("put_away", {"what": "plate"}))
    assert await tells(system, "Undo.") == "Undone: the plate is out again."
    assert AWAY == ["cup"]
    again = await tells(system, "UNDO")
    assert again == 'That has been undone already: Put away: plate. To undo "Put away: cup", write "undo A".'
    assert await tells(system, "undo A") == "Undone: the cup is out again."
    assert await tells(system, "undo G") == "There is nothing under G that I can undo."
    assert AWAY == []


async def test_the_model_takes_back_in_any_words(system: Approving) -> None:
    await does(system, ("put_away", {"what": "cup"}), ("put_away", {"what": "plate"}))
    await does(system, ("undo_last", {"show": True}))
    assert system.model.told()[-1].splitlines()[:2] == [
        "What I can undo, the newest first:",
        "B. Put away: plate (until today at 13:00)",
    ]
    await does(system, ("undo_last", {"code": "A"}), said="The cup is back.")
    assert (AWAY, system.model.told()[-1]) == (["plate"], "Undone: the cup is out again.")
    await does(system, ("undo_last", {}), ("undo_last", {}))
    assert system.model.told()[-2:] == [
        "Undone: the plate is out again.",
        "That has been undone already: Put away: plate.",
    ]


async def test_the_model_cannot_call_an_inverse(system: Approving) -> None:
    await does(system, ("put_away", {"what": "cup"}))
    await does(system, ("take_out", {"what": "cup"}))
    assert "There is no tool named 'take_out'" in system.model.told()[-1]
    offered = {spec.name for spec in system.model.requests[-1].tools}
    assert "undo_last" in offered
    assert not offered & {"take_out", "break_open"}
    assert AWAY == ["cup"]


async def test_a_sentence_that_begins_with_undo_is_the_models(system: Approving) -> None:
    await does(system, ("put_away", {"what": "cup"}))
    system.model.script[:] = [says("Which dishes?")]
    await system.say("undo the dishes reminder")
    assert (system.last(), AWAY) == ("Which dishes?", ["cup"])


async def test_what_cannot_be_undone_says_so_and_undoes_nothing_else(system: Approving) -> None:
    await does(system, ("put_away", {"what": "cup"}), ("throw_away", {"what": "vase"}))
    for _ in range(2):
        said = await tells(system, "undo")
        assert said == (
            "I cannot undo this: Thrown away: vase. The bin is empty; buy another one. "
            'To undo "Put away: cup", write "undo A".'
        )
    assert AWAY == ["cup"]
    await does(system, ("undo_last", {"show": True}), ("undo_last", {"words": "the vase"}))
    assert "vase" not in system.model.told()[-2], "the list has what can be undone"
    assert system.model.told()[-1].startswith("I cannot undo this: Thrown away: vase.")
    assert await tells(system, "undo A") == "Undone: the cup is out again."


async def test_an_older_thing_is_undone_by_its_words_and_none_is_guessed(system: Approving) -> None:
    for what in ("red cup", "blue cup", "plate"):
        await does(system, ("put_away", {"what": what}))
    await does(system, ("undo_last", {"words": "the cup"}))
    assert system.model.told()[-1].splitlines()[1:] == ["B. Put away: blue cup", "A. Put away: red cup"]
    await does(system, ("undo_last", {"words": "fork"}))
    assert system.model.told()[-1].startswith("I find nothing like that among the actions that I can undo.")
    assert AWAY == ["red cup", "blue cup", "plate"]
    await does(system, ("undo_last", {"words": "the Red one"}))
    assert AWAY == ["blue cup", "plate"]
    await does(system, ("undo_last", {"words": "that"}))
    assert AWAY == ["blue cup"], "such words name the newest"


async def test_nothing_to_undo_is_said(system: Approving, clock: StandingClock) -> None:
    assert await tells(system, "undo") == "There is nothing that I can undo now."
    await does(system, ("put_away", {"what": "nothing"}))  # it failed: there is nothing to take back
    assert await tells(system, "undo") == "There is nothing that I can undo now."
    await does(system, ("put_away", {"what": "cup", "minutes": 10}))
    clock.move(minutes=10)
    assert await tells(system, "undo") == "There is nothing that I can undo now."
    assert AWAY == ["cup"]
    await forget_expired(system.delivery.store.database, clock)
    assert await system.delivery.store.db.undo_records.count() == 0


async def test_what_has_changed_since_is_not_overwritten(system: Approving) -> None:
    await does(system, ("put_away", {"what": "cup"}))
    AWAY.clear()
    for _ in range(2):
        assert await tells(system, "undo") == "I did not undo it: Somebody has taken the cup out since."


class Forbidden(Rule):
    """Let nobody call a tool."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def evaluate(self, where: HookContext, call: PlannedCall) -> Verdict:
        return Verdict(Decision.DENY if call.name == self.name else Decision.ALLOW)


@pytest.mark.parametrize(
    ("tool", "said"), [("take_out", "I may not undo this: Put away: cup."), ("undo_last", "I may not do that.")]
)
async def test_a_rule_counts_for_what_undoes(system: Approving, tool: str, said: str) -> None:
    system.options["hooks"] = [Forbidden(tool)]
    await does(system, ("put_away", {"what": "cup"}))
    assert await tells(system, "undo") == said
    assert AWAY == ["cup"]


async def test_promise_9_an_inverse_that_needs_consent_asks_and_runs_once(system: Approving) -> None:
    await does(system, ("lock_away", {"what": "ring"}))
    assert "ring" in await tells(system, "undo")
    assert (AWAY, await system.states()) == (["ring"], ["pending"])

    def says_back(request: ModelRequest) -> ModelAnswer:
        return says("It is out.")

    system.model.script[:] = [says_back]
    await system.decide("Approve")
    assert (AWAY, system.last()) == ([], "It is out.")
    assert await tells(system, "undo") == "That has been undone already: Locked away: ring."


async def test_promise_5_a_call_that_is_entered_again_takes_back_the_same(system: Approving) -> None:
    await does(system, ("put_away", {"what": "cup"}), ("put_away", {"what": "plate"}))
    store, now = UndoStore(system.delivery.store.database), system.clock.now()
    tenant = await system.delivery.store.db.person()
    first = await store.take(tenant, None, "call", now)
    assert first is not None
    await store.end(tenant, first.id)
    again = await store.take(tenant, None, "call", now)
    assert again is not None
    assert (again.id, again.undone) == (first.id, False)
    other = await store.take(tenant, None, "another", now)
    assert other is not None
    assert (other.id, other.undone) == (first.id, True)


@pytest.mark.whole("it works until a limit is reached")
async def test_only_the_newest_records_are_kept(system: Approving) -> None:
    for _ in range(6):
        cups: list[tuple[str, dict[str, object]]] = [("put_away", {"what": "cup"})] * 20
        await does(system, *cups)
    numbers = await system.delivery.store.db.undo_records.column("number", order="number")
    assert numbers == list(range(21, 121))


@pytest.mark.parametrize(("number", "code"), [(1, "A"), (26, "Z"), (27, "A2"), (100, "V4"), (2574, "Z99")])
def test_a_letter_names_one_record_however_many_there_are(number: int, code: str) -> None:
    record = UndoRecord("id", number, "title", "tool", {}, StandingClock().at)
    assert (record.code, number_of(code), number_of(code.lower())) == (code, number, number)


@pytest.mark.parametrize("text", ["", "3", "it", "A0", "A1B", "2A"])
def test_what_is_no_letter_names_none(text: str) -> None:
    assert number_of(text) == 0
