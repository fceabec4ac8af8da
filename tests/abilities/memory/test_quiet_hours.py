"""Memory's own calls wait for the end of quiet hours: nothing that was said is lost meanwhile, and it is read once."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from abilities.memory.talks import Gathering
from core.budgets.self_started import OutsideQuietHours, SelfStarted, SparedCalls
from core.db.database import Database
from tests.abilities.memory.harness import make_person, told
from tests.abilities.memory.talking import talking
from tests.abilities.memory.test_paid_embeddings import BOAT, Paying
from tests.abilities.memory.test_paid_embeddings import paying as paying
from tests.abilities.memory.test_reading_talks import PLAIN, READS, answer


async def test_no_provider_embeds_in_quiet_hours_and_words_do(paying: Paying, database: Database) -> None:
    await make_person(database, "ann")
    async with database.tenant("ann") as connection:
        await connection.execute("update tenants set quiet_from = '11:00', quiet_until = '19:00'")
    spared: list[str] = []

    async def count(_: str, work: str) -> None:
        spared.append(work)

    may_ask, momex = OutsideQuietHours(database, paying.clock, SparedCalls(count)), paying.momex
    await SelfStarted(may_ask, momex.add_now)("ann", [told(BOAT)])
    assert await SelfStarted(may_ask, momex.work.embed_again)() == 0
    assert paying.provider.texts == []
    assert spared == ["embeddings"], "a round that only makes up for it is no call more"
    assert [one.text for one in await momex.store.newest("ann", 9)] == [BOAT], "it is stored all the same"
    recall = await momex.search("ann", "Where is the Kestrel, at the pier?")
    assert [hit.memory.text for hit in recall.found] == [BOAT], "and found by its words"
    assert paying.provider.texts != [], "a question of the person's is embedded at any time"
    paying.clock.move(hours=7)
    assert await SelfStarted(may_ask, momex.work.embed_again)() == 1


@pytest.mark.slow
@pytest.mark.xdist_group("typeagent")
async def test_what_was_said_at_night_is_read_once_when_it_ends(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(database_url, redis_url, tmp_path, monkeypatch, answer) as person:
        may_ask = OutsideQuietHours(person.store.database, person.parts.clock)
        read = SelfStarted(may_ask, person.read)
        now = person.parts.clock.now()
        hours = {"quiet_from": f"{now - timedelta(hours=2):%H:%M}", "quiet_until": f"{now + timedelta(hours=2):%H:%M}"}
        await person.say(PLAIN[0])
        await person.store.db.tenants.change(hours)
        for words in PLAIN[1:5]:
            await person.say(words)
            await person.remember()
            await person.be_quiet()
            await read()
        assert not [call for call in person.model.calls if call.system.startswith(READS)]
        assert await person.store.one("select max(attempts) from profile_jobs") == 0, "no attempt was lost"
        hasty = replace(person.talks, gathering=Gathering(messages=2))
        if (job := await hasty.claim()) is not None:  # a lot was said since
            await SelfStarted(may_ask, hasty.run)(job)
        assert await person.store.one("select bool_and(not_before > now()) from profile_jobs")
        assert await hasty.claim() is None, "it is not claimed again and again, however much was said"
        await person.store.db.tenants.change({"quiet_from": "", "quiet_until": ""})
        await person.store.admin.execute("update profile_jobs set not_before = now() - interval '6 minutes'")
        await read()
        assert len([call for call in person.model.calls if call.system.startswith(READS)]) == 1
        assert await person.store.db.profile_jobs.count() == 0
