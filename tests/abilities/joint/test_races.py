"""Two decisions at once, by several workers at once: it runs once, or not at all."""

import asyncio
from datetime import timedelta

import pytest

from abilities.joint import deciders, settling
from abilities.joint.settling import Settling
from core.approvals.exact_replies import Verb
from tests.abilities.joint.together import Together, open_together
from tests.examples import sized


async def decide(home: Together, person: str, approval_id: str, verb: Verb) -> bool:
    """Let somebody decide a request, in the console."""
    return await home.approvals.decide(
        home.tenants[person],
        approval_id,
        verb,
        how="console",
        channel="console",
        now=home.clock.now(),
        said_in=f"{approval_id} {verb}",
    )


async def race(home: Together, rounds: int, *verbs: Verb) -> None:
    """Let both decide at once, while two workers look, `rounds` times."""
    for number in range(rounds):
        home.sent.clear()
        home.clock.move(timedelta(hours=2))
        if number % 8 == 7:
            await home.ask("NEW")  # a long talk would be summed up by the model, which has a script
        await home.both()
        assert (await home.states_of("ada"))[-1] == "pending"
        of_ada, of_grace = [(await home.approvals_of(person))[-1]["id"] for person in ("ada", "grace")]
        await asyncio.gather(
            decide(home, "ada", of_ada, Verb.APPROVE),
            *(decide(home, "grace", of_grace, verb) for verb in verbs),
            home.turn(),
            home.settling.once(),
            home.settling.once(),
        )
        await home.work()
        decided = (await home.states_of("grace"))[-1]
        assert len(home.sent) == (decided == "approved"), (number, decided, home.sent)
        assert {state for state, _ in await home.joint()} == {"ended"}


@pytest.mark.timeout(sized(300, full=900))
async def test_promise_9_two_yeses_at_once_run_it_once(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciders, "MOST_A_DAY", 1000)
    async with open_together("sms", database_url) as home:
        await race(home, sized(4, full=200), Verb.APPROVE)


async def test_promise_9_a_yes_and_a_no_at_once_are_one_of_them(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        await race(home, 6, Verb.APPROVE, Verb.CANCEL)


async def test_one_that_cannot_be_taken_further_holds_up_no_others(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_together("sms", database_url) as home:
        settle, tried = Settling.settle, list[str]()

        async def failing(self: Settling, tenant_id: str, approval_id: str, fault: str = "") -> None:
            tried.append(tenant_id)
            if tenant_id == home.tenants["ada"]:
                raise RuntimeError("nobody foresaw this")
            await settle(self, tenant_id, approval_id, fault)

        monkeypatch.setattr(settling, "_AT_ONCE", 1)
        await home.joins("lena")
        await home.both()
        monkeypatch.setattr(Settling, "settle", failing)
        await home.no("ada")  # both are to be told, and it fails
        await home.both(person="lena")
        await home.yes("lena")
        await home.yes("grace")
        assert len(home.sent) == 1
        assert tried.count(home.tenants["ada"]) == 1
        monkeypatch.undo()
        store = home.delivery.store
        assert (
            0 < float(str(await store.one("select wait from what_is_due(now()) where work = 'joint consents'"))) <= 10
        )
        await store.end_pauses()
        await home.work()
        assert {state for state, _ in await home.joint()} == {"ended"}
        assert await store.column("select attempts from joint_consents") == [0, 0]
