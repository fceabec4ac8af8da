"""T22: every client meets a peer of every manner that makes sense for it, on real sockets, in real processes."""

from pathlib import Path

import pytest

from tests.faults.harness import make_people, open_harness
from tests.faults.peers.clients import BY_NAME
from tests.faults.peers.run import hostile_peers, manners_for
from tests.forker import Forker


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
@pytest.mark.parametrize("client", BY_NAME)
async def test_promise_12_no_peer_costs_others_anything(tmp_path: Path, forker: Forker, client: str) -> None:
    people = make_people(2 + len(manners_for(BY_NAME[client])))
    async with open_harness(tmp_path, forker, people, webs=1, workers=1) as harness:
        result = await hostile_peers(harness, clients=[BY_NAME[client]])
    assert result.missed == []
    assert [finding for finding in result.findings if finding.broken] == []
