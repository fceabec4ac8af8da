"""The checks before a turn: their order, what each refuses, and that one which cannot tell delays."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.agents.registry import AgentRegistry
from core.agents.standard_agent import StandardAgent
from core.agents.valet import valet
from core.errors import ConfigError, StoreUnavailable, TurnDelayed
from core.journal.in_memory import MemoryJournal
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.messaging.states import IdentityState
from core.people.access_policy import Access, Admission, PersonRole, Policy, parse_listed
from core.people.rate_limit import Rates
from core.people.tenant import TurnTenant
from core.people.tiers import Tiers, read_tiers
from core.tools.tool import tool
from core.turns.checks import HOURS_ZONE, SafetyCheck, ordered_checks
from core.turns.context import Check, Refusal, TurnContext
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Kept, Place, TurnRequest, TurnResult, TurnSender, TurnWork
from onevalet.wiring.plugins import load_plugins
from tests.clocks import StandingClock
from tests.core.builders import FakeModel, says

NOW = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)
ANN = "+15550000001"
ANNS = TurnTenant("ann")
SENDER = TurnSender("+1", ANN, IdentityState.ACTIVE, Admission.PAIRING)
OPEN = Access(Policy.OPEN)
CONFIG = ReactLoopConfig(llm_retry_base_delay=0.001)


HELLO = TurnMessage("m", "hello", NOW)


def request(
    turn: str = "t1",
    *,
    sender: TurnSender | None = SENDER,
    tenant: TurnTenant = ANNS,
    channel: str | None = "sms",
) -> TurnRequest:
    return TurnRequest(TurnWork(turn, MemoryJournal()), tenant, Place(channel), FromPerson((HELLO,), sender))


def checks(access: Access = OPEN, tiers: str = "", *, rate: int = 30, **more: Any) -> tuple[Check, ...]:
    return ordered_checks(access, Rates(), read_tiers(tiers, rate), **({"clock": StandingClock(NOW)} | more))


async def handle(asked: Sequence[Check], turn: TurnRequest, tiers: Tiers | None = None) -> tuple[TurnResult, FakeModel]:
    model = FakeModel([says("fine")] * 9)
    orchestrator = Orchestrator(model, checks=asked, tiers=tiers, config=CONFIG, tools=[look, send])
    return await orchestrator.handle_message(turn), model


@tool(effect="read")
async def look() -> str:
    """Look."""
    return "seen"


@tool(effect="once")
async def send() -> str:
    """Send."""
    return "sent"


@pytest.mark.parametrize(
    ("sender", "reason"),
    [
        (replace(SENDER, admitted=None), "unknown"),
        (replace(SENDER, admitted=Admission.OPEN), "unknown"),
        (replace(SENDER, admitted=Admission.ALLOWLIST), "unknown"),
        (replace(SENDER, state=IdentityState.OPTED_OUT), "stopped"),
    ],
)
async def test_promise_12_a_removed_person_costs_no_model_call(sender: TurnSender, reason: str) -> None:
    result, model = await handle(checks(Access(Policy.ALLOWLIST)), request(sender=sender))
    assert (result.reason, result.reply, result.history) == (reason, "", ())
    assert model.requests == []


async def test_a_sender_without_a_channel_is_not_admitted() -> None:
    result, model = await handle(checks(OPEN), request(channel=None))
    assert (result.reason, model.requests) == ("unknown", [])


async def test_who_is_listed_paired_linked_or_brought_in_may_write() -> None:
    listing = Access(Policy.ALLOWLIST, frozenset({parse_listed(f"sms:{ANN}")}))
    for admitted in (Admission.OPEN, Admission.ALLOWLIST):
        assert (await handle(checks(listing), request(sender=replace(SENDER, admitted=admitted))))[0].reply == "fine"
    for admitted in (Admission.PAIRING, Admission.LINK, Admission.OPERATOR):
        empty = Access(Policy.ALLOWLIST)
        assert (await handle(checks(empty), request(sender=replace(SENDER, admitted=admitted))))[0].reply == "fine"


async def test_what_was_decided_elsewhere_goes_on_for_who_said_stop_here() -> None:
    [*_, _] = asked = checks()
    stopped = replace(request(), came=FromPerson((), replace(SENDER, state=IdentityState.OPTED_OUT)))
    for check in asked:
        assert await check(stopped, NOTHING) is None


async def test_beyond_the_rate_one_sentence_then_silence_and_no_model_call() -> None:
    asked = checks(rate=2)
    replies = [await handle(asked, request(f"t{number}")) for number in range(5)]
    assert [result.reason for result, _ in replies] == ["", "", *["rate_limited"] * 3]
    assert [bool(result.reply) for result, _ in replies] == [True, True, True, False, False]
    assert [len(model.requests) for _, model in replies] == [1, 1, 0, 0, 0]


async def test_a_tier_has_a_rate_of_its_own() -> None:
    asked = checks(tiers='{"guest": {"messages_a_minute": 1}}')
    guest = TurnTenant("ann", role=PersonRole.GUEST)
    assert [(await handle(asked, request(f"t{n}", tenant=guest)))[0].reason for n in range(2)] == ["", "rate_limited"]


async def test_a_tier_that_the_settings_do_not_name_delays() -> None:
    with pytest.raises(TurnDelayed, match="ONEVALET_TIERS"):
        await handle(checks(), request(tenant=TurnTenant("ann", tier="gold")))


@pytest.mark.parametrize(
    ("tenant", "offered"),
    [
        (TurnTenant("ann", role=PersonRole.GUEST), ["look"]),
        (TurnTenant("ann", role=PersonRole.OWNER), ["look", "send"]),
        (TurnTenant("ann", role=PersonRole.OWNER, tier="nothing"), []),
        (TurnTenant("ann", role=PersonRole.GUEST, tier="member"), ["look", "send"]),
    ],
)
async def test_a_tier_offers_its_tools_only(tenant: TurnTenant, offered: list[str]) -> None:
    tiers = read_tiers('{"guest": {"tools": ["look"]}, "nothing": {"tools": []}}', 30)
    _, model = await handle((), request(tenant=tenant), tiers)
    assert [tool.name for tool in model.requests[0].tools] == offered


async def test_a_tier_offers_its_agents_only() -> None:
    @valet(name="Writer")
    class Writer(StandardAgent):
        """Write."""

    for names, offered in (('["Writer"]', ["Writer"]), ('["look"]', ["look"])):
        model = FakeModel([says("fine")])
        tiers = read_tiers(f'{{"member": {{"tools": {names}}}}}', 30)
        agents = AgentRegistry([Writer])
        await Orchestrator(model, tools=[look], agents=agents, tiers=tiers, config=CONFIG).handle_message(request())
        assert [tool.name for tool in model.requests[0].tools] == offered


class Recorded(SafetyCheck):
    """Record that it was asked, then do as told."""

    def __init__(self, order: list[str], name: str, act: Refusal | Exception | None = None) -> None:
        self.order, self.name, self.act = order, name, act

    async def check(self, request: TurnRequest, context: TurnContext) -> Refusal | None:
        self.order.append(self.name)
        if isinstance(self.act, Exception):
            raise self.act
        return self.act


async def test_the_order_is_access_opt_out_rate_tier_budget_safety() -> None:
    order: list[str] = []
    budget, safety = Recorded(order, "budget"), Recorded(order, "safety", Refusal("unsafe", "No."))
    asked = checks(budget=budget, safety=[safety])
    result, _ = await handle(asked, request())
    assert (order, result.reason, result.reply) == (["budget", "safety"], "unsafe", "No.")
    order.clear()
    bad = request(
        "t2",
        sender=replace(SENDER, admitted=None, state=IdentityState.OPTED_OUT),
        tenant=TurnTenant("ann", tier="gold"),
    )
    assert (await handle(asked, bad))[0].reason == "unknown"
    bad = bad.began(FromPerson(bad.inbound, replace(SENDER, state=IdentityState.OPTED_OUT)))
    assert (await handle(asked, bad))[0].reason == "stopped"
    assert order == []


@pytest.mark.parametrize("error", [RuntimeError("x"), OSError("x"), TurnDelayed("x"), ExceptionGroup("x", [OSError()])])
async def test_a_check_that_cannot_run_delays_and_neither_refuses_nor_lets_pass(error: Exception) -> None:
    order: list[str] = []
    asked = checks(safety=[Recorded(order, "broken", error), Recorded(order, "after")])
    with pytest.raises(TurnDelayed):
        await handle(asked, request())
    assert order == ["broken"]


async def test_a_check_without_the_store_says_so_as_everything_does() -> None:
    with pytest.raises(StoreUnavailable):
        await handle(checks(safety=[Recorded([], "broken", StoreUnavailable("x"))]), request())


async def test_a_plugin_brings_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "night_watch.py").write_text(
        "from onevalet import Refusal, SafetyCheck\n\n\n"
        "class Night(SafetyCheck):\n"
        "    async def check(self, request, context):\n"
        "        return Refusal('asleep', 'Zzz')\n\n\n"
        "night = Night()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    brought = load_plugins(["night_watch"]).checks
    result, _ = await handle(checks(safety=brought), request())
    assert (result.reason, result.reply) == ("asleep", "Zzz")


def test_tiers_are_read_from_json_and_from_files(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('[gold]\ntools = ["look"]\nbudget_a_day = 1.5\nmessages_a_minute = 90\n')
    (tmp_path / "t.json").write_text('{"gold": {"budget_a_day": "1.50", "tools": ["look"], "messages_a_minute": 90}}')
    read = [read_tiers(f"@{tmp_path / name}", 30).of(PersonRole.MEMBER, "gold") for name in ("t.toml", "t.json")]
    assert read[0] == read[1]
    assert read[0] is not None
    assert str(read[0].dollars_a_day) == "1.5"
    assert read_tiers("", 7).names == ["guest", "member", "owner"]
    assert getattr(read_tiers("", 7).of(PersonRole.GUEST), "messages_a_minute", 0) == 7


@pytest.mark.parametrize(
    "text",
    [
        *("[]", "{", "@nowhere.toml", '{"a": 1}', '{"a": {"tool": []}}', '{"a": {"tools": "look"}}'),
        *('{"a": {"messages_a_minute": 0}}', '{"a": {"messages_a_minute": true}}', '{"a": {"budget_a_day": -1}}'),
        *('{"a": {"budget_a_day": "x"}}', '{"a": {"budget_a_day": NaN}}'),
    ],
)
def test_tiers_that_cannot_be_read_are_one_sentence(text: str) -> None:
    with pytest.raises(ConfigError, match="ONEVALET_TIERS"):
        read_tiers(text, 30)


def test_a_tool_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match="fly"):
        read_tiers('{"guest": {"tools": ["fly"]}}', 30).check_tools(frozenset({"look"}))


NOTHING: Any = None
"""What the built-in checks need of a prepared context."""


@pytest.mark.parametrize(
    ("hours", "zone", "answered"),
    [
        ("07:00-20:00", "UTC", False),  # it is 22:00 there
        ("07:00-20:00", "America/New_York", True),
        ("20:00-02:00", "UTC", True),
        ("20:00-02:00", "Asia/Tokyo", False),
    ],
)
async def test_a_tier_is_answered_in_its_hours_by_the_persons_clock(hours: str, zone: str, answered: bool) -> None:
    asked = checks(tiers=f'{{"child": {{"hours": "{hours}"}}}}')
    child = replace(ANNS, tier="child", timezone=zone)
    result, model = await handle(asked, request(tenant=child))
    assert (result.reply == "fine", len(model.requests)) == (answered, int(answered))
    if not answered:
        assert (result.reason, result.reply) == ("outside_hours", f"I answer you only from {hours}.")
    # A reminder rings all the same.
    result, _ = await handle(asked, request("t2", tenant=child, sender=None))
    assert result.reply == "fine"


async def test_a_tier_is_answered_by_the_clock_that_an_ability_brings() -> None:
    asked = checks(tiers='{"child": {"hours": "07:00-20:00"}}')
    child = replace(ANNS, tier="child", timezone="America/New_York")
    for turn, zone, answered in (("t1", "UTC", False), ("t2", None, True), ("t3", "America/New_York", True)):
        brought = replace(request(turn, tenant=child), kept=Kept(brought={HOURS_ZONE: zone}))
        result, _ = await handle(asked, brought)
        assert (result.reply == "fine") is answered, zone


@pytest.mark.parametrize(
    "hours", ["7-20", "07:00", "08:00-08:00", "from 7 to 20", 7, "07:00Z-20:00Z", "07:00+01:00-20:00"]
)
def test_hours_that_are_no_hours_are_an_error_at_start(hours: object) -> None:
    with pytest.raises(ConfigError, match="hours of child must be written as 07:00-20:00"):
        read_tiers(json.dumps({"child": {"hours": hours}}), 30)
