"""The console's page of follow-ups, and their part of a turn's path: people see their own words only."""

from collections.abc import AsyncIterator

import pytest

from operations.paths.types import steps_of_abilities
from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, Console, open_console

PAGE = "/console/followups"
WORDS = {ANN: "My interview is tomorrow", BOB: "My exam is tomorrow"}
_REMEMBERED = (
    "insert into memories (tenant_id, id, number, text, speaker, kind, source_key, turn_id, said_at, valid_from,"
    " happens_at) values ($1, $2, 1, $3, 'person', 'told', $2, $4, now(), now(), now() + interval '2 days')"
)
_PROPOSED = (
    "select propose_followup($1, $2, jsonb_build_object('ask_at', now() + interval '2 days', 'digest_at',"
    " now() + interval '1 day', 'day', '2027-01-01', 'text', 'Shall I ask?'), now())"
)


@pytest.fixture
async def console(database_url: str) -> AsyncIterator[Console]:
    """Yield the console, in which something is proposed to Ann and to Bob."""
    async with opened(database_url) as store, open_console(store) as console:
        for sender, words in WORDS.items():
            tenant, memory = await console.tenant(sender), f"mem_{sender}"
            await store.admin.execute(_REMEMBERED, tenant, memory, words, await turn_of(console, sender))
            await store.database.tenant_rows(tenant, _PROPOSED, memory)
        yield console


async def turn_of(console: Console, sender: str) -> str:
    """Return a turn of a person's."""
    find = "select t.id from turns t join conversations c on c.id = t.conversation_id where c.peer = $1 order by t.id"
    return str(await console.store.one(f"{find} limit 1", sender))


async def test_a_person_sees_their_own_follow_ups_with_their_words(console: Console) -> None:
    async with console.browser(BOB) as browser:
        await browser.get(PAGE)
        assert WORDS[BOB] in browser.text
        assert "proposed" in browser.text
        assert WORDS[ANN] not in browser.text


async def test_an_operator_sees_everybodys_without_others_words(console: Console) -> None:
    async with console.browser(ANN) as browser:
        await browser.get(PAGE)
        assert WORDS[ANN] in browser.text
        assert WORDS[BOB] not in browser.text
        assert browser.text.count("told in this turn") == 2


async def test_a_follow_up_stands_in_the_path_of_its_turn_without_words(console: Console) -> None:
    turn = await turn_of(console, ANN)
    async with console.browser(ANN) as browser:
        await browser.get(f"/console/turns/{turn}")
        assert "Follow-up 1" in browser.text
    tenant = await console.tenant(ANN)
    async with console.store.database.tenant(tenant) as connection:
        lines = [step.line for step in await steps_of_abilities(connection, tenant, turn)]
    [told] = [line for line in lines if line["what"] == "FOLLOW-UP"]
    assert (told["id"], told["state"]) == (f"mem_{ANN}", "proposed")
    assert "interview" not in str(told)
