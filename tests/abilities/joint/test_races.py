"""Two decisions at once, by several workers at once: it runs once, or not at all."""

import asyncio
from datetime import timedelta

import pytest

from abilities.joint import deciders
from core.approvals.exact_replies import Verb
from tests.abilities.joint.together import Together, open_together


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


async def test_promise_9_two_yeses_at_once_run_it_once(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        await race(home, 4, Verb.APPROVE)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_promise_9_two_yeses_at_once_run_it_once_each_of_200_times(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciders, "MOST_A_DAY", 1000)
    async with open_together("sms", database_url) as home:
        await race(home, 200, Verb.APPROVE)


async def test_promise_9_a_yes_and_a_no_at_once_are_one_of_them(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        await race(home, 6, Verb.APPROVE, Verb.CANCEL)
