"""What must be true afterwards, read from the database and from what the provider accepted."""

import asyncio
import re
from dataclasses import dataclass

from simulator.app import Simulator
from simulator.journal import Json
from tests.spine.system import System
from tests.spine.texts import Text

_TOKEN = re.compile(r"m\d{5}-p\d{3}")


@dataclass(frozen=True, slots=True)
class Findings:
    """Counts of a run; all but `rows` and `answered` must be 0 (`unknown` is reported apart)."""

    rows: int
    answered: int
    lost: int
    doubled: int
    out_of_order: int
    unexplained: int
    """Messages that answer no text: a notice that nobody should get, say."""
    unknown: int

    def kept(self, texts: int) -> bool:
        """Return whether so many texts were kept, each got exactly one answer, in order, and nobody anything else."""
        broken = self.lost or self.doubled or self.out_of_order or self.unexplained
        return self.rows == self.answered == texts and not broken


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
            "select i.text, n.user_key from inbound i"
            " join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id"
            " join identities n on n.tenant_id = c.tenant_id and n.id = c.identity_id"
            " where i.command is null order by n.user_key, i.seq"
        )
        unknown = await connection.fetchval("select count(*) from outbound where state = 'ambiguous'")
    finally:
        await connection.close()
    kept: dict[str, list[str]] = {}
    for row in rows:
        kept.setdefault(row["user_key"], []).append(row["text"])
    bubbles = said_to(system.simulator)
    got = {peer: [token for bubble in bubbles for token in _TOKEN.findall(bubble)] for peer, bubbles in bubbles.items()}
    answered = [token for tokens in got.values() for token in tokens]
    return Findings(
        rows=len(rows),
        answered=len(set(answered)),
        lost=len({text.body for text in texts} - set(answered)),
        doubled=len(answered) - len(set(answered)),
        out_of_order=sum(1 for peer, tokens in kept.items() if got.get(peer, []) != tokens),
        unexplained=sum(1 for bubbles in bubbles.values() for bubble in bubbles if not _TOKEN.search(bubble)),
        unknown=int(unknown),
    )


def said_to(simulator: Simulator) -> dict[str, list[str]]:
    """Return what each identity was told, in the order that the provider accepted it."""
    texts: dict[str, list[str]] = {}
    for provider, user_key, bubbles in (
        ("twilio", "phone", "bubbles"),
        ("slack", "user", "bubbles"),
        ("telegram", "chat_id", "messages"),
    ):
        people = as_dict(as_dict(simulator.providers[provider].state())["people"])
        for person in map(as_dict, people.values()):
            for bubble in map(as_dict, as_list(person[bubbles])):
                if bubble["direction"] == "out":
                    texts.setdefault(str(person[user_key]), []).append(str(bubble["text"]))
    return texts


def as_dict(value: Json) -> dict[str, Json]:
    """Return a JSON object as what it is."""
    assert isinstance(value, dict)
    return value


def as_list(value: Json) -> list[Json]:
    """Return a JSON array as what it is."""
    assert isinstance(value, list)
    return value
