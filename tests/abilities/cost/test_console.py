"""Long answers in the console and in a turn's path: how they came, and never their words."""

from collections.abc import AsyncIterator

import pytest

from operations.paths.types import steps_of_abilities
from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, Console, open_console

PAGE = "/console/spared/answers"
_HELD = (
    "insert into held_answers (tenant_id, outbound_id, segments, asked_at, until, way)"
    " select o.tenant_id, o.id, $2, now(), now() + interval '1 hour', $3 from outbound o"
    " join conversations c on c.id = o.conversation_id where c.peer = $1 and o.turn_id is not null"
    " order by o.id limit 1 returning outbound_id"
)
_TURN = "select o.turn_id from held_answers h join outbound o on o.id = h.outbound_id where h.segments = $1"


@pytest.fixture
async def console(database_url: str) -> AsyncIterator[Console]:
    """Yield the console: an answer to Ann waits for her choice, and one to Bob came shortened."""
    async with opened(database_url) as store, open_console(store) as console:
        await hold(console, ANN, 17, "")
        await hold(console, BOB, 23, "short")
        yield console


async def hold(console: Console, sender: str, segments: int, way: str) -> None:
    """Let an answer to a person be held back, and become this."""
    assert await console.store.admin.fetchval(_HELD, sender, segments, way)


async def test_a_person_sees_their_own_long_answers(console: Console) -> None:
    async with console.browser(BOB) as browser:
        await browser.get(PAGE)
        assert "23 segments" in browser.text
        assert "sent shortened" in browser.text
        assert "17 segments" not in browser.text


async def test_an_operator_sees_everybodys_long_answers(console: Console) -> None:
    async with console.browser(ANN) as browser:
        await browser.get(PAGE)
        assert browser.text.index("waits for a choice") < browser.text.index("until")
        assert "23 segments" in browser.text
        assert browser.text.count("answered in this turn") == 2


async def test_a_held_answer_stands_in_the_path_of_its_turn(console: Console) -> None:
    turn = str(await console.store.one(_TURN, 17))
    async with console.browser(ANN) as browser:
        await browser.get(f"/console/turns/{turn}")
        assert "Long answer held back" in browser.text
        assert "waits for a choice" in browser.text
    tenant = await console.tenant(ANN)
    async with console.store.database.tenant(tenant) as connection:
        lines = [step.line for step in await steps_of_abilities(connection, tenant, turn)]
    [told] = [line for line in lines if line["what"] == "HELD"]
    assert (told["state"], told["segments"], told["chosen_by"]) == ("asked", 17, None)
