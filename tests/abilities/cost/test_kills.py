"""Workers die by `kill -9` at each statement of a question, of a choice and of its end: the answer comes once."""

import itertools
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from abilities.cost.held import end_waits
from abilities.cost.opening import answer_links
from tests.abilities.cost.harness import Phone, open_phone
from tests.abilities.cost.victims import text_of
from tests.core.builders import says
from tests.forker import Forker, plain_environment
from tests.kills.points import each_point
from workbench.simulator.journal import Call

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes"), pytest.mark.timeout(600)]


async def die(phone: Phone, forker: Forker, point: str, number: int, log: Path) -> bool:
    """Let a worker die at a point; return False for one that got past all statements."""
    twilio = phone.system.delivery.channel.simulator.twilio_url
    arguments = [phone.store.url, point, twilio, phone.clock.now().isoformat(), str(number)]
    child = forker.fork(arguments, plain_environment(), log, module="tests.abilities.cost.victims")
    code = await child.wait()
    assert code in (0, -signal.SIGKILL), log
    return code != 0


async def survive(phone: Phone, answer: str) -> None:
    """Let another worker go on, as often as lost calls are looked up."""
    phone.system.model.script[:] = [says(answer)]
    for _ in range(3):
        await phone.store.expire()
        await end_waits(phone.store.database, phone.clock, phone.store.wakeups, answer_links(phone.foundation))
        await phone.store.admin.execute("update deliveries set started_at = started_at - interval '1 hour'")
        await phone.store.make_due()
        await phone.system.work()


def read(phone: Phone) -> list[str]:
    return [bubble.text for bubble in phone.system.delivery.channel.bubbles()]


def calls(phone: Phone) -> Sequence[Call]:
    """Return all calls that Twilio got or made."""
    return phone.system.delivery.channel.simulator.wire.journal.calls(provider="twilio")


@pytest.mark.parametrize("deed", ["ask", "send", "short", "read", "lapse"])
async def test_promise_5_an_answer_that_is_held_comes_once(
    tmp_path: Path, database_url: str, forker: Forker, deed: str
) -> None:
    tries = itertools.count()
    async with open_phone(database_url) as phone:

        async def reach(point: str) -> tuple[bool, object]:
            # Twilio's list tells equal texts apart by their time only.
            tried = next(tries)
            answer = text_of(tried, longer=deed == "ask")
            await phone.store.admin.execute("delete from segment_days")  # nor does the day's limit end it
            before = len(read(phone))
            if deed != "ask":
                [question] = await phone.hears(answer)
                assert question.startswith("My answer is")
                before += 1
            if deed == "lapse":
                phone.clock.move(minutes=61)
            else:
                await phone.system.delivery.channel.said("tell me all" if deed == "ask" else deed)
            called = len(calls(phone))
            dead = await die(phone, forker, point, tried, tmp_path / "victims.log")
            called = len(calls(phone)) - called
            await phone.store.end_pauses()
            await survive(phone, answer)
            check(deed, answer, read(phone)[before:], point)
            if deed == "ask":
                await phone.says("send")
            return dead, called

        assert await each_point(reach) >= 5, "there are several points"


def check(deed: str, answer: str, came: Sequence[str], point: str) -> None:
    """See that what came after a deed is there once."""
    match deed:
        case "send":
            assert " ".join(came).split() == answer.split(), point
        case "lapse":
            assert len(came) == 2, (point, came)
            assert answer.startswith(came[0][:300]), (point, came)
            assert "for seven days" in came[1]
        case "short":
            assert [text[:300] for text in came] == [answer[:300]], (point, came)
        case "read":
            assert len(came) == 1, (point, came)
            assert "for seven days" in came[0]
        case "ask":
            assert [text[:12] for text in came] == ["My answer is"], (point, came)
