"""The profile: told or inferred, shown with numbers, undoable, and looked at after the reply."""

import json
from datetime import timedelta

import pytest

from abilities.memory.talks import TalkReader
from core.budgets.budgeted_model import BudgetedModel
from core.errors import ModelUnavailable
from core.llm.types import ModelAnswer, Role
from core.people.profile import FactSource, ProfileMerge, ProfileStore
from tests.core.builders import FakeModel, Step, says
from tests.core.people.harness import CHAT, Harness

ANN = "+15550000001"


def changed(*changes: tuple[str, str, str]) -> ModelAnswer:
    """Answer as the model is asked to."""
    listed = [{"key": key, "value": value, "source": source} for key, value, source in changes]
    return says(f"Here: {json.dumps({'changes': listed})}")


def runner(harness: Harness, *script: Step) -> tuple[TalkReader, FakeModel]:
    """Make a runner with a scripted model."""
    model, database = FakeModel(list(script)), harness.store.database
    make_id = harness.store.make_id
    reader = TalkReader(
        database, BudgetedModel(model, database), make_id, harness.clock, profile=ProfileStore(database, make_id)
    )
    return reader, model


async def once(reader: TalkReader) -> bool:
    """Read the talk of one person; return False where nobody is due."""
    job = await reader.claim()
    if job is not None:
        await reader.run(job)
    return job is not None


async def be_quiet(harness: Harness) -> None:
    """Let people have been quiet for long enough."""
    await harness.store.admin.execute("update profile_jobs set not_before = clock_timestamp() - interval '6 minutes'")


async def test_facts_are_extracted_after_the_reply_shown_and_can_be_removed(harness: Harness) -> None:
    await harness.ask("I have moved to Lisbon", ANN)
    await harness.ask("and I do not eat meat", ANN)
    jobs, model = runner(harness, changed(("home_town", "Lisbon", "told"), ("diet", "vegetarian", "inferred")))
    assert not await once(jobs)  # they may still be writing
    await be_quiet(harness)
    assert await once(jobs)
    asked = model.requests[0].messages[1]
    assert (asked.role, "moved to Lisbon" in asked.text, "not eat meat" in asked.text) == (Role.USER, True, True)
    assert not await once(jobs)
    listed = await harness.ask("PROFILE", ANN)
    assert "1. home town: Lisbon (told)\n2. diet: vegetarian (inferred)" in listed
    await harness.ask("I live in Porto these days", ANN)
    await be_quiet(harness)
    jobs, _ = runner(harness, changed(("home_town", "Porto", "told"), ("diet", "Vegetarian", "inferred")))
    assert await once(jobs)
    assert "3. home town: Porto (told)" in await harness.ask("/profile", ANN)
    assert "This counts again: Lisbon" in await harness.ask("profile undo 3", ANN)
    assert "no fact 3 now" in await harness.ask("PROFILE undo 3", ANN)
    assert "Taken back: diet" in await harness.ask("PROFILE undo 2", ANN)
    # It is not inferred again what was taken back, nor does a guess replace what was told.
    await harness.ask("soup was good today", ANN)
    await be_quiet(harness)
    jobs, _ = runner(harness, changed(("diet", "vegetarian", "inferred"), ("home_town", "Faro", "inferred")))
    assert await once(jobs)
    assert (await harness.ask("PROFILE", ANN)).splitlines()[1:-1] == ["1. home town: Lisbon (told)"]


async def test_a_model_that_is_down_is_retried_and_finally_given_up(harness: Harness) -> None:
    await harness.ask("I work at the harbour", ANN)
    for left in (1, 1, 0):
        await be_quiet(harness)
        jobs, _ = runner(harness, ModelUnavailable("down"))
        assert await once(jobs)
        assert await harness.store.db.profile_jobs.count() == left
    # One whose process died is taken up again when its lease has ended.
    await harness.ask("I work at the station", ANN)
    await be_quiet(harness)
    claim = "select * from claim_talk('dead', $1, 5, '1 minute', 10)"
    rows = await harness.store.database.rows(claim, timedelta(seconds=-1))
    assert len(rows) == 1
    jobs, _ = runner(harness, changed(("work", "station", "told")))
    assert await once(jobs)
    assert await harness.store.db.profile_facts.one("value") == "station"


async def test_linked_people_keep_one_fact_per_key_with_distinct_numbers(harness: Harness) -> None:
    harness.hooks = (ProfileMerge(),)
    await harness.ask("hello", ANN)
    await harness.ask("hello", "7001", CHAT)
    profile = ProfileStore(harness.store.database, harness.store.make_id)
    for tenant, town in ((await harness.tenant(ANN), "Lisbon"), (await harness.tenant("7001", CHAT), "Porto")):
        for key, value in (("home_town", town), (f"likes_{town.lower()}", "yes")):
            await profile.keep(tenant, key, value, FactSource.TOLD, "", harness.clock.now())
    code = await harness.code("7001", CHAT)
    await harness.settle()
    assert "2 known facts there" in await harness.ask(f"LINK {code}", ANN)
    await harness.ask(f"LINK {code} AGREE", ANN)
    facts = await profile.read(await harness.tenant(ANN))
    assert [(fact.number, fact.value) for fact in facts] == [(1, "Lisbon"), (2, "yes"), (4, "yes")]


async def test_what_was_passed_on_says_nothing_about_the_person(harness: Harness) -> None:
    runs, model = runner(harness)
    await harness.ask("I live in Lisbon now", ANN)
    await harness.store.db.inbound.change({"origin": "forwarded"})
    await be_quiet(harness)
    assert await once(runs)
    assert model.requests == []


async def test_a_nul_in_a_profile_is_left_out_and_the_fact_is_kept(harness: Harness) -> None:
    await harness.ask("I live in Lisbon now", ANN)
    await be_quiet(harness)
    look, _ = runner(harness, changed(("home_town", "Lis\x00bon\ud800", "told")))
    assert await once(look)
    assert await harness.store.db.profile_facts.column("value") == ["Lisbon\ufffd"]


async def test_a_profile_that_raises_blocks_no_other_and_is_given_up(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await harness.ask("I live in Lisbon now, and like it", ANN)
    await harness.ask("I live in Porto now, and like it", "+15550000002")
    await be_quiet(harness)
    town = changed(("home_town", "Lisbon", "told"))
    look, model = runner(harness, *[town] * 8)
    real = ProfileStore.keep

    async def keeps(self: ProfileStore, tenant_id: str, *args: object) -> object:
        if tenant_id == await harness.tenant(ANN):
            raise RuntimeError
        return await real(self, tenant_id, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(ProfileStore, "keep", keeps)
    for _ in range(3):
        while await once(look):
            pass
        await be_quiet(harness)
    assert await harness.store.db.profile_facts.column("value") == ["Lisbon"]
    assert await harness.store.db.profile_jobs.count() == 0, "tried three times, then let go of"
    assert len(model.requests) == 4
