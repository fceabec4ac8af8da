"""What must be true afterwards, read from the database and from what the provider accepted."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial

import asyncpg

from tests.eventually import eventually
from tests.spine.system import System
from tests.spine.texts import Text
from workbench.simulator.app import Simulator
from workbench.simulator.journal import Json

_KEPT = (
    "select i.text, n.user_key from inbound i"
    " join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id"
    " join identities n on n.tenant_id = c.tenant_id and n.id = c.identity_id"
    " where i.command is null order by n.user_key, i.seq"
)
_UNCERTAIN = (
    "select distinct o.text from deliveries d"
    " join outbound o on o.tenant_id = d.tenant_id and o.id = d.outbound_id"
    " where d.outcome in ('ambiguous', 'left') or d.outcome = 'started' and exists ("
    "  select from deliveries n where n.tenant_id = d.tenant_id and n.outbound_id = d.outbound_id"
    "  and n.part = d.part and n.attempt > d.attempt)"
)
TOKEN = re.compile(r"m\d{5}-p\d{3}")


@dataclass(frozen=True, slots=True)
class Findings:
    """Counts of a run; `lost`, `doubled`, `out_of_order` and `unexplained` must be 0."""

    rows: int
    answered: int
    lost: int
    doubled: int
    out_of_order: int
    unexplained: int
    """Messages that answer no text: a notice that nobody should get, say."""
    unknown: int
    """Messages whose fate nobody knows: their answer was lost, and their provider cannot be asked."""
    resent: int
    """Answers sent again as their channel's policy says, after the answer of a call was lost and journalled: a provider
    that cannot be asked may have taken both. They are not counted as doubled."""

    def kept(self, texts: int) -> bool:
        """Return whether so many texts were kept, each got exactly one answer, in order, and nobody anything else."""
        broken = self.lost or self.doubled or self.out_of_order or self.unexplained
        return self.rows == self.answered == texts and not broken


async def until_quiet(system: System, *, within: float, url: str = "") -> None:
    """Wait until nothing waits, runs or is to be sent in the database, the system's unless given."""
    connection = await asyncpg.connect(url or system.postgres.url)
    try:
        await eventually(partial(_is_quiet, connection), "quiet", within=within)
    finally:
        await connection.close()


async def _is_quiet(connection: "asyncpg.Connection[asyncpg.Record]") -> bool:
    work = await connection.fetchrow("select * from count_work()")
    assert work is not None
    under_way = work["waiting_messages"] or work["running_turns"] or work["open_outbound"]
    assert not under_way, dict(work)
    return True


async def check(system: System, texts: list[Text], urls: Sequence[str] = ()) -> Findings:
    """Compare what was sent, what was kept in the system's database, or in several, and what people got back."""
    rows: list[asyncpg.Record] = []
    uncertain: list[asyncpg.Record] = []
    unknown = 0
    for url in urls or (system.postgres.url,):
        connection = await asyncpg.connect(url)
        try:
            rows += await connection.fetch(_KEPT)
            unknown += await connection.fetchval("select count(*) from outbound where state = 'ambiguous'")
            uncertain += await connection.fetch(_UNCERTAIN)
        finally:
            await connection.close()
    rows = [row for row in rows if TOKEN.fullmatch(row["text"])]
    kept: dict[str, list[str]] = {}
    for row in rows:
        kept.setdefault(row["user_key"], []).append(row["text"])
    bubbles = said_to(system.simulator)
    got = {peer: [token for bubble in bubbles for token in TOKEN.findall(bubble)] for peer, bubbles in bubbles.items()}
    lost_answers = {token for row in uncertain for token in TOKEN.findall(row["text"])}
    resent, doubled, out_of_order = count_repeats(kept, got, lost_answers)
    answered = [token for tokens in got.values() for token in tokens]
    return Findings(
        rows=len(rows),
        answered=len(set(answered)),
        lost=len({text.body for text in texts} - set(answered)),
        doubled=doubled,
        out_of_order=out_of_order,
        unexplained=sum(1 for bubbles in bubbles.values() for bubble in bubbles if not TOKEN.search(bubble)),
        unknown=unknown,
        resent=resent,
    )


def count_repeats(
    kept: Mapping[str, list[str]], got: Mapping[str, list[str]], lost_answers: Set[str]
) -> tuple[int, int, int]:
    """Return how many answers were sent again knowingly, how many twice, and how many people got theirs out of order.

    `kept` and `got`: each person's tokens, as they came in and as they were answered.
    """
    repeated = [token for tokens in got.values() for token, times in Counter(tokens).items() for _ in range(times - 1)]
    resent = sum(token in lost_answers for token in repeated)
    out_of_order = 0
    for peer, tokens in kept.items():
        answers = got.get(peer, [])
        once = [
            token for place, token in enumerate(answers) if token not in lost_answers or token not in answers[:place]
        ]
        out_of_order += once != tokens
    return resent, len(repeated) - resent, out_of_order


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
