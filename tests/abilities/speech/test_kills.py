"""Workers die by `kill -9` at each statement between an answer and its voice.

It is made once more at most, and sent once.
"""

import itertools
import signal
from pathlib import Path

import pytest

from core.files.store import FileStore
from tests.abilities.speech.harness import open_listener, sounds
from tests.abilities.speech.victims import NotedMouth
from tests.core.builders import says
from tests.forker import Forker, plain_environment
from tests.kills.points import each_point

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes"), pytest.mark.timeout(600)]


async def test_promise_5_a_voice_is_made_once_more_at_most_and_sent_once(
    tmp_path: Path, database_url: str, forker: Forker
) -> None:
    folder, notes, log = tmp_path / "files", tmp_path / "said", tmp_path / "victims.log"
    tries = itertools.count()
    async with open_listener("slack", database_url, folder) as listener:
        await listener.wants_voice()
        listener.mouth = NotedMouth(notes=notes)
        store, slack = listener.store, listener.channel.simulator.slack_url
        clock = listener.outlet.system.clock

        def outside() -> list[int]:
            said, stored = notes.read_text().splitlines(), [path for path in folder.rglob("*") if path.is_file()]
            return [len(said), len(stored), len(listener.channel.simulator.wire.journal.calls(provider="slack"))]

        async def reach(point: str) -> tuple[bool, object]:
            tried = next(tries)
            clock.move(minutes=1)  # a person writes so often in a minute, and no more
            await store.admin.execute("delete from history")  # a long one would be summed up by the model
            notes.write_text("")
            before = len(sounds(listener.outlet.got()))
            await listener.record(str(tried))
            await listener.answers(says(f"Answer {tried} is here."))
            done = outside()
            arguments = [store.url, point, slack, clock.now().isoformat(), str(folder), str(notes)]
            child = forker.fork(arguments, plain_environment(), log, module="tests.abilities.speech.victims")
            code = await child.wait()
            assert code in (0, -signal.SIGKILL), log.read_text()
            done = [now - then for now, then in zip(outside(), done, strict=True)]
            for _ in range(3):
                await store.expire()
                await store.admin.execute("update spoken_answers set lease_until = now() - interval '1 s'")
                await store.admin.execute("update deliveries set started_at = started_at - interval '1 hour'")
                await store.make_due()
                await listener.works()
            assert len(sounds(listener.outlet.got())) - before == 1, point
            assert len(notes.read_text().splitlines()) in (1, 2), point
            assert (await listener.ends())[-1] == ("spoken", ""), point
            return code != 0, done

        assert await each_point(reach) >= 7, "there are several points"
        assert isinstance(listener.files.intake.store, FileStore)
        kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        assert kept == set(await store.column("select key from files where state = 'kept'"))
