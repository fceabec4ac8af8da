"""Each effect has exactly one receipt, whatever happens: runs by chance, held against what the tools really did."""

import asyncio
import io
import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from abilities.receipts.receipts_file import verify
from abilities.receipts.types import Receipt, ReceiptOutcome
from core.approvals.exact_replies import Verb
from core.errors import ToolFailed
from core.json_types import Json
from core.tools.tool import AnyTool, tool
from tests.abilities.receipts.acting import file_bytes, open_acting, receipts_of, tenant_of
from tests.contract.approving import Approving
from tests.core.builders import says, wants

SEEDS = range(6)
TURNS = 14
WAYS = ("well", "well", "fails", "breaks", "killed before", "killed after")
DECISIONS = ("approve", "approve", "cancel", "expire", "edit")


@dataclass
class Acting:
    """A run by chance. `done` are the effects that happened, `lost` those whose process died or that broke."""

    system: Approving
    chance: random.Random
    ways: dict[int, str] = field(default_factory=dict)
    done: Counter[tuple[str, int]] = field(default_factory=Counter)
    lost: set[tuple[str, int]] = field(default_factory=set)
    died: set[int] = field(default_factory=set)
    """The turns in which a process died: what else they did at that moment may be lost with it."""
    dying: asyncio.Event = field(default_factory=asyncio.Event)

    def tools(self) -> list[AnyTool]:
        """Return the tools: two that act once, with and without a card, one that may repeat, and one that reads."""

        @tool(name="pay", effect="once", needs_approval=True)
        async def pay(n: int, text: str = "") -> str:
            """Pay."""
            return await self._act("pay", n)

        @tool(name="ping", effect="once")
        async def ping(n: int) -> str:
            """Ping."""
            return await self._act("ping", n)

        @tool(name="keep", effect="idempotent")
        async def keep(n: int) -> str:
            """Keep."""
            return await self._act("keep", n)

        @tool(name="peek", effect="read")
        async def peek(n: int) -> str:
            """Look."""
            return await self._act("peek", n)

        return [pay, ping, keep, peek]

    async def _act(self, name: str, n: int) -> str:
        way = self.ways[n]
        if way == "fails":
            raise ToolFailed("Nothing was done.")
        if way == "killed before":
            await self._die(name, n)
        self.done[name, n] += 1
        if way == "killed after":
            await self._die(name, n)
        if way == "breaks":
            self.lost.add((name, n))
            raise RuntimeError("the answer was lost")
        return f"{name} {n}"

    async def _die(self, name: str, n: int) -> None:
        """Stay here until the process is gone, once."""
        self.ways[n] = "well"
        self.lost.add((name, n))
        self.died.add(n // 10)
        self.dying.set()
        await asyncio.Event().wait()

    async def work(self) -> None:
        """Do all that waits; a process that dies leaves its lease behind, and another one goes on."""
        store = self.system.delivery.store
        while True:
            self.dying.clear()
            working, dying = asyncio.create_task(self.system.work()), asyncio.create_task(self.dying.wait())
            await asyncio.wait({working, dying}, return_when=asyncio.FIRST_COMPLETED)
            dying.cancel()
            if working.done():
                return await working
            working.cancel()
            await asyncio.wait({working})
            await store.expire()

    async def turn(self, number: int) -> None:
        """Let the person ask for up to three calls, and decide about their cards."""
        calls: list[tuple[str, Json]] = []
        for place in range(self.chance.randint(1, 3)):
            n = number * 10 + place
            self.ways[n] = self.chance.choice(WAYS)
            calls.append((self.chance.choice(("pay", "ping", "keep", "peek")), {"n": n}))
        self.system.clock.move(timedelta(seconds=1))
        self.system.model.script[:] = [wants(*calls)] + [says("Done.")] * 8
        await self.system.delivery.channel.said(f"number {number}", "ada")
        await self.work()
        for _ in range(8):
            pending = await self.system.delivery.store.column(
                "select id from approvals where state = 'pending' order by id"
            )
            if not pending:
                return
            await self._decide(str(pending[0]), self.chance.choice(DECISIONS))
            await self.work()
        raise AssertionError("cards without end")

    async def _decide(self, approval: str, decision: str) -> None:
        system = self.system
        if decision == "expire":
            system.clock.move(timedelta(hours=1))
            return
        verb = {"approve": Verb.APPROVE, "cancel": Verb.CANCEL, "edit": Verb.EDIT}[decision]
        assert await system.approvals.decide(
            await tenant_of(system),
            approval,
            verb,
            how="console",
            channel="console",
            now=system.clock.now(),
            said_in=f"con_{approval}_{verb}",
            changes={"text": f"{self.chance.random()}"} if verb is Verb.EDIT else None,
        )


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    async with open_acting("sms", database_url) as system:
        yield system


def effect_of(receipt: Receipt) -> tuple[str, int]:
    """Return the effect that a receipt is of, by the arguments of its card or of its call."""
    sealed = json.loads(receipt.card.sealed)["arguments"] if receipt.card else json.loads(receipt.asked)
    return receipt.tool, int(sealed["n"])


@pytest.mark.parametrize("seed", SEEDS)
async def test_each_effect_has_one_receipt_whatever_happens(system: Approving, seed: int) -> None:
    acting = Acting(system, random.Random(seed))
    system.more = acting.tools()
    for number in range(TURNS):
        await acting.turn(number)
    receipts = await receipts_of(system)
    told = Counter(map(effect_of, receipts))
    outcomes = {effect_of(receipt): receipt.outcome for receipt in receipts}
    once = {effect for effect in acting.done if effect[0] in ("pay", "ping")}
    assert len(once) > 3, "the run did something"
    # What happened once has one receipt, and so has what may have.
    assert {effect: told[effect] for effect in once} == dict.fromkeys(once, 1)
    assert all(acting.done[effect] == 1 for effect in once)
    assert {effect for effect in told if outcomes[effect] is ReceiptOutcome.DONE} <= set(acting.done)
    unknown = {effect for effect in told if outcomes[effect] is ReceiptOutcome.UNKNOWN}
    assert {n // 10 for name, n in unknown - acting.lost} <= acting.died
    assert {effect for effect in acting.lost if effect[0] in ("pay", "ping")} <= unknown
    # What a repeat does no harm to has one receipt, too, and reading has none.
    assert {effect for effect in told if effect[0] == "keep"} >= {one for one in acting.done if one[0] == "keep"}
    assert {name for name, _ in told} <= {"pay", "ping", "keep"}
    assert all((receipt.card is not None) == (receipt.tool == "pay") for receipt in receipts)
    # And the journal says the same.
    rows = await system.delivery.store.one(
        "select count(*) from steps where effect in ('once', 'idempotent') and outcome in ('ok', 'unknown')"
    )
    assert rows == len(receipts) == sum(told.values())
    assert verify(io.BytesIO(await file_bytes(system))).receipts == len(receipts)
