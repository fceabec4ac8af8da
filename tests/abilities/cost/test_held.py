"""Held answers: their page, their price in the budget, each step twice, and a person who is merged or deleted."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from html import unescape
from types import SimpleNamespace
from typing import cast

import aiohttp
import pytest

from abilities.cost.held import end_waits
from abilities.cost.links import AnswerLink, AnswerLinks
from abilities.cost.opening import answer_links
from abilities.cost.page import open_routes
from channels.http.app import build_app, serve
from core.budgets.store import DailyBudgets
from core.budgets.types import OutOfMoney, Payer
from core.credentials.secret_keys import read_secret_key
from core.journal.types import StepKey
from core.llm.prices import ModelPrice
from core.llm.types import ModelRequest
from core.messaging.calls import Rendered
from core.messaging.holding import Holding
from onevalet.foundations import WebFoundation
from tests.abilities.cost.harness import KEY, URL, WORDS, Phone, open_phone
from tests.core.credentials.harness import store_with
from tests.ports import free_port

ONE_MORE = "select coalesce(sum(spent), 0) from spending where task_id = 'texts'"


@pytest.fixture
async def phone(database_url: str) -> AsyncIterator[Phone]:
    async with open_phone(database_url) as phone:
        yield phone


async def move_question(phone: Phone, state: str) -> None:
    """Put the question into a state that delivery gave it."""
    await phone.store.admin.execute(
        "update outbound set state = $1, next_attempt_at = 'infinity'"
        " where id in (select outbound_id from held_answers)",
        state,
    )


async def test_a_link_leads_to_the_whole_answer_for_a_week(phone: Phone) -> None:
    hostile = WORDS + "<script>alert(1)</script>"
    await phone.hears(hostile)
    [said] = await phone.says("read")
    path = said.removeprefix(f"All of it, for seven days: {URL}")
    port, store = free_port(), phone.store
    web = SimpleNamespace(
        settings=SimpleNamespace(public_url=URL),
        database=store.database,
        credentials=store_with(store.database, read_secret_key(KEY)),
        clock=phone.clock,
    )
    app = build_app([], ready=store.database.ready, extra_routes=open_routes(cast(WebFoundation, web)))
    async with serve(app, "127.0.0.1", port), aiohttp.ClientSession(f"http://127.0.0.1:{port}") as browser:

        async def looks(at: str) -> tuple[int, str]:
            async with browser.get(at) as answer:
                return answer.status, await answer.text()

        for _ in range(2):
            status, page = await looks(path)
            assert status == 200
            assert hostile.strip() in unescape(page)
            assert "<script>" not in page
        forged = path[:-1] + ("0" if path[-1] != "0" else "1")
        for wrong in (forged, "/answer/x", f"/answer/{32 * '0'}"):
            assert (await looks(wrong))[0] == 404, wrong
        phone.clock.move(days=8)
        status, page = await looks(path)
        assert status == 404
        assert "This link is over" in page


async def test_texts_are_paid_from_the_days_budget(phone: Phone) -> None:
    phone.priced(("+1", "0.3"))
    await phone.hears("Yes.", "is it raining?")
    assert await phone.store.one(ONE_MORE) == Decimal("0.3")
    row = await phone.store.admin.fetchrow("select tenant_id, timezone from tenants")
    assert row is not None
    day = await phone.store.one("select day from spending where task_id = ''")
    assert day == phone.clock.now().date()
    budgets = DailyBudgets(phone.store.database, phone.clock, Decimal(1), (ModelPrice(0.0, 0.5, longest_answer=1),))
    budget = budgets.of(Payer(row["tenant_id"], "turn_1"))
    await budget.reserve(StepKey(0, 0), ModelRequest(()))
    await budget.release(StepKey(0, 0))
    await phone.hears("Yes.", "and now?")
    with pytest.raises(OutOfMoney):
        await budget.reserve(StepKey(0, 0), ModelRequest(()))


async def test_an_answer_of_few_segments_asks_the_database_nothing(phone: Phone) -> None:
    async def refused(*_: object) -> Rendered:
        raise AssertionError

    phone.system.delivery.runner.holding = Holding(refused)
    three = WORDS[:450]
    assert " ".join(await phone.hears(three)).split() == three.split()
    assert await phone.store.one("select max(segments) from outbound_parts") == 3


async def test_a_number_without_a_price_costs_nothing_that_is_known(phone: Phone) -> None:
    phone.priced(("+44", "0.3"))
    await phone.hears("Yes.", "is it raining?")
    assert await phone.store.one(ONE_MORE) == 0
    [question] = await phone.hears(WORDS)
    assert question.startswith("My answer is 15 texts long.\n")


async def test_a_call_that_is_made_again_costs_again(phone: Phone) -> None:
    phone.priced(("+1", "0.3"))
    await phone.hears("Yes.", "is it raining?")
    calls = await phone.store.one(
        "select count(*) from deliveries d join outbound o on o.id = d.outbound_id where o.text = 'Yes.'"
    )
    assert await phone.store.one(ONE_MORE) == Decimal("0.3") * int(str(calls))


@pytest.mark.parametrize("word", ["send", "short", "read", "chat"])
async def test_promise_2_each_step_may_be_repeated(database_url: str, word: str) -> None:
    async with open_phone(database_url, chat=True, twice=True) as phone:
        [question] = await phone.hears(WORDS)
        assert question.startswith("My answer is 15 texts long")
        read = await phone.says(word)
        if word == "send":
            assert " ".join(read).split() == WORDS.split()
        else:
            [one] = read
            assert one.startswith({"short": "word00000 ", "read": "All of it,", "chat": "You will find it in"}[word])
        assert await phone.ways() == [word]
        assert await phone.waits(hours=2) == []


async def test_promise_2_the_end_of_the_wait_may_be_repeated(database_url: str) -> None:
    async with open_phone(database_url, twice=True) as phone:
        await phone.hears(WORDS)
        assert len(await phone.waits(minutes=61)) == 2
        assert await phone.ways() == ["lapsed"]


async def test_a_question_that_never_went_out_ends_without_an_answer(phone: Phone) -> None:
    await phone.hears(WORDS)
    await move_question(phone, "failed")
    assert await phone.waits(minutes=61) == []
    assert await phone.ways() == ["over"]


async def test_a_question_that_still_waits_is_not_overtaken(phone: Phone) -> None:
    await phone.hears(WORDS)
    await move_question(phone, "ready")
    assert await phone.waits(minutes=61) == []
    assert await phone.ways() == [""]
    await move_question(phone, "sent")
    assert len(await phone.waits(minutes=11)) == 2


@dataclass
class Broken:
    """Links that fail for the first answer that is asked for."""

    links: AnswerLinks
    failed: str = ""

    def of(self, tenant_id: str, outbound_id: str) -> AnswerLink:
        """Return a link, or raise."""
        self.failed = self.failed or outbound_id
        if outbound_id == self.failed:
            raise ValueError
        return self.links.of(tenant_id, outbound_id)


async def test_a_wait_that_cannot_be_ended_holds_up_no_other_and_pauses(phone: Phone) -> None:
    await phone.hears(WORDS)
    await phone.hears(WORDS, "and again")
    phone.clock.move(timedelta(minutes=61))
    links = answer_links(phone.foundation)
    assert links
    broken, store = cast(AnswerLinks, Broken(links)), phone.store
    await end_waits(store.database, phone.clock, store.wakeups, broken)
    assert await phone.ways() == ["", "lapsed"]
    await phone.waits(seconds=1)
    assert await phone.ways() == ["", "lapsed"], "its pause is not over"
    due = "select wait from what_is_due($1) where work = 'held_answers'"
    assert 5 < float(str(await store.one(due, phone.clock.now()))) <= 10, "nobody looks for it until then"
    await store.admin.execute("update held_answers set next_attempt_at = clock_timestamp()")
    await phone.waits(seconds=1)
    assert await phone.ways() == ["lapsed", "lapsed"]
