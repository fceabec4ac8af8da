"""T22 in small: every client meets a peer that floods, on real sockets, in real processes.

`uv run -m tests.faults T22` has all manners, which take a quarter of an hour.
"""

from pathlib import Path

import pytest

from tests.faults.harness import make_people, open_harness
from tests.faults.peers.clients import BY_NAME
from tests.faults.peers.run import hostile_peers, manners_for
from tests.forker import Forker
from tests.servers.hostile_peers import BY_NAME as BY_MANNER

SOME = [BY_MANNER["floods with small units"]]


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
@pytest.mark.parametrize("client", BY_NAME)
async def test_promise_12_no_peer_costs_others_anything(tmp_path: Path, forker: Forker, client: str) -> None:
    people = make_people(2 + len(manners_for(BY_NAME[client], SOME)))
    async with open_harness(tmp_path, forker, people, webs=1, workers=1) as harness:
        result = await hostile_peers(harness, clients=[BY_NAME[client]], manners=SOME)
    # Milliseconds say as much of the machine: T22 has them.
    assert [bar for bar in result.missed if "the loop stood still" not in bar] == []
    assert [finding for finding in result.findings if finding.broken] == []
