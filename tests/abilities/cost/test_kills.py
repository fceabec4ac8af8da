"""Workers die by `kill -9` at each statement of a question, of a choice and of its end: the answer comes once."""

import itertools
import signal
from pathlib import Path

import pytest

from abilities.cost.held import end_waits
from abilities.cost.opening import answer_links
from tests.abilities.cost.harness import Phone, open_phone
from tests.abilities.cost.victims import text_of
from tests.core.builders import says
from tests.forker import Forker, plain_environment

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


@pytest.mark.parametrize("deed", ["ask", "send", "short", "read", "lapse"])
async def test_promise_5_an_answer_that_is_held_comes_once(
    tmp_path: Path, database_url: str, forker: Forker, deed: str
) -> None:
    async with open_phone(database_url) as phone:
        points = ((number, sign) for number in itertools.count(1) for sign in "-+")
        for tried, (number, sign) in enumerate(points):
            # Twilio's list tells equal texts apart by their time only.
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
            dead = await die(phone, forker, f"{number}{sign}", tried, tmp_path / "victims.log")
            await phone.store.end_pauses()
            await survive(phone, answer)
            came = read(phone)[before:]
            match deed:
                case "send":
                    assert " ".join(came).split() == answer.split(), (number, sign)
                case "lapse":
                    assert len(came) == 2, (number, sign, came)
                    assert answer.startswith(came[0][:300]), (number, sign, came)
                    assert "for seven days" in came[1]
                case "short":
                    assert [text[:300] for text in came] == [answer[:300]], (number, sign, came)
                case "read":
                    assert len(came) == 1, (number, sign, came)
                    assert "for seven days" in came[0]
                case "ask":
                    assert [text[:12] for text in came] == ["My answer is"], (number, sign, came)
                    await phone.says("send")
            if not dead:
                assert number >= 6, "there are several points"
                return
