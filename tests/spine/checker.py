"""What must be true afterwards, read from the database and from what the provider accepted."""

import asyncio
import re
from dataclasses import dataclass

from simulator.app import Simulator
from tests.spine.driver import Text
from tests.spine.system import System

_TOKEN = re.compile(r"m\d{5}-p\d{3}")


@dataclass(frozen=True, slots=True)
class Findings:
    """Counts of a run; all but `rows` and `answered` must be 0 (`unknown` is reported apart)."""

    rows: int
    answered: int
    lost: int
    doubled: int
    out_of_order: int
    unknown: int


async def until_quiet(system: System, *, within: float) -> None:
    """Wait until nothing waits, runs or is to be sent."""
    connection = await system.connect()
    try:
        async with asyncio.timeout(within):
            while True:
                work = await connection.fetchrow("select * from count_work()")
                assert work is not None
                if not (work["waiting_messages"] or work["running_turns"] or work["open_outbound"]):
                    return
                await asyncio.sleep(0.2)
    finally:
        await connection.close()


async def check(system: System, texts: list[Text]) -> Findings:
    """Compare what was sent, what was kept and what people got back."""
    connection = await system.connect()
    try:
        rows = await connection.fetch(
            "select i.text, c.peer, i.state from inbound i join conversations c"
            " on c.tenant_id = i.tenant_id and c.id = i.conversation_id order by c.peer, i.seq"
        )
        unknown = await connection.fetchval("select count(*) from outbound where state = 'ambiguous'")
    finally:
        await connection.close()
    kept: dict[str, list[str]] = {}
    for row in rows:
        kept.setdefault(row["peer"], []).append(row["text"])
    got = answers_by_person(system.simulator)
    answered = [token for tokens in got.values() for token in tokens]
    return Findings(
        rows=len(rows),
        answered=len(set(answered)),
        lost=len({text.body for text in texts} - set(answered)),
        doubled=len(answered) - len(set(answered)),
        out_of_order=sum(1 for peer, tokens in kept.items() if got.get(peer, []) != tokens),
        unknown=int(unknown),
    )


def answers_by_person(simulator: Simulator) -> dict[str, list[str]]:
    """Give what each number was told, in the order that the provider accepted it."""
    state = simulator.providers["twilio"].state()
    assert isinstance(state, dict)
    people = state["people"]
    assert isinstance(people, dict)
    found: dict[str, list[str]] = {}
    for person in people.values():
        assert isinstance(person, dict)
        bubbles = person["bubbles"]
        assert isinstance(bubbles, list)
        for bubble in bubbles:
            assert isinstance(bubble, dict)
            if bubble["direction"] == "out":
                found.setdefault(str(person["phone"]), []).extend(_TOKEN.findall(str(bubble["text"])))
    return found
