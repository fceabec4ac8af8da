"""T22 in small: every client meets a peer that floods and one that refuses in words, on real sockets.

`uv run -m tests.faults T22` has all manners, which take a quarter of an hour.
"""

from collections.abc import Sequence
from itertools import batched
from pathlib import Path

import pytest

from tests.faults.harness import make_people, open_harness
from tests.faults.peers.clients import CLIENTS, PeerClient
from tests.faults.peers.run import hostile_peers, manners_for
from tests.forker import Forker
from tests.servers.hostile_peers import BY_NAME as BY_MANNER

SOME = [BY_MANNER["floods with small units"], BY_MANNER["refuses in its own words"]]
AT_ONCE = 10
"""Clients that share a harness, which takes as long to open as one of them to meet its peers."""


@pytest.mark.slow
@pytest.mark.timeout(1500, func_only=True)
@pytest.mark.xdist_group("peers")
@pytest.mark.parametrize(
    "clients", list(batched(CLIENTS, AT_ONCE)), ids=lambda some: f"{some[0].name} to {some[-1].name}"
)
async def test_promise_12_no_peer_costs_others_anything(
    tmp_path: Path, forker: Forker, clients: Sequence[PeerClient]
) -> None:
    people = make_people(1 + sum(1 + len(manners_for(client, SOME)) for client in clients))
    async with open_harness(tmp_path, forker, people, webs=1, workers=1, started=False) as harness:
        result = await hostile_peers(harness, clients=clients, manners=SOME)
    # Milliseconds say as much of the machine: T22 has them.
    assert [bar for bar in result.missed if "the loop stood still" not in bar] == []
    assert [finding for finding in result.findings if finding.broken] == []
