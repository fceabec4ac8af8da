"""The matrix of T22 itself: it knows every client, and a client that forgets its budget fails it."""

from pathlib import Path

import pytest

from tests.faults.harness import make_people, open_harness
from tests.faults.peers import hooks
from tests.faults.peers.clients import BY_NAME, CLIENTS, PeerClient
from tests.faults.peers.judging import Late, Seen, judge
from tests.faults.peers.run import hostile_peers, manners_for, why_not
from tests.faults.peers.stage import Cell, Stage
from tests.forker import Forker
from tests.servers.hostile_peers import BY_NAME as BY_MANNER
from tests.servers.hostile_peers import MANNERS
from tests.shipping.peers import PEERS, WITHOUT_CASE

CALM = Seen("a client", "as it should", (0.3, 0.2, 0.4), "It is there.", 1.0, held=400.0)
FLOOD = "floods with small units"


def seen(**changed: object) -> Seen:
    """Return what was seen of a peer that cost nobody anything, but for what is changed."""
    values = {"others": (0.3,), "told": "The server took too long.", "grown": 2.0}
    return Seen("a client", FLOOD, **(values | changed))  # type: ignore[arg-type]


def test_there_are_twenty_manners_at_least_and_each_meets_some_client() -> None:
    assert len(MANNERS) >= 20
    assert len(BY_MANNER) == len(MANNERS) + 1
    assert {manner.name for client in CLIENTS for manner in manners_for(client)} == {manner.name for manner in MANNERS}


def test_each_manner_that_a_client_does_not_meet_has_a_reason() -> None:
    for client in CLIENTS:
        left_out = [manner for manner in MANNERS if manner not in manners_for(client)]
        assert all(why_not(client, manner) for manner in left_out)
        assert len(manners_for(client)) >= 15, client.name


def test_every_client_of_the_product_has_a_case() -> None:
    missing = {name: case for name, (_, case) in PEERS.items() if case not in BY_NAME}
    assert missing == dict.fromkeys(WITHOUT_CASE, "")


def test_what_is_made_impatient_is_there() -> None:
    for name, constants in hooks.SHORTER.items():
        assert all(isinstance(hooks.found(f"{name}:{constant}"), float) for constant in constants), name
    for name, defaults in hooks.SHORTER_DEFAULTS.items():
        assert hooks.defaults_of(hooks.found(name)).keys() >= defaults.keys(), name


def test_a_peer_that_costs_nobody_anything_is_well() -> None:
    assert judge(seen(), CALM) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"others": (0.2, 5.0, 6.0)}, "others were answered in 5.00 s"),
        ({"grown": 80.0, "held": 490.0}, "grew by 79 MB"),
        ({"late": (Late(0.2, 0.1), Late(0.4, 0.4, "a.py:1"))}, "the loop stood still for 400 ms: a.py:1"),
        ({"told": None}, "its person was told nothing"),
        ({"told": ""}, "its person was told nothing"),
        ({"met": False}, "the peer was not reached"),
        ({"errors": ("KeyError",)}, "errors that nobody foresaw"),
        ({"betrayed": True}, "a credential came to another host"),
    ],
)
def test_each_bar_that_is_missed_is_named(changed: dict[str, object], words: str) -> None:
    [missed] = judge(seen(**changed), CALM)
    assert words in missed


def test_a_process_that_begins_anew_is_no_growth() -> None:
    assert judge(seen(grown=60.0, held=405.0), CALM) == []


def test_a_busy_machine_is_no_miss() -> None:
    late = (Late(3.0, 0.02),)
    assert judge(seen(others=(3.0,), late=late, slowness=4.0), CALM) == []


async def _reads_without_bounds(stage: Stage, cell: Cell) -> None:
    await stage.asks(cell, "act_unbounded", {"host": cell.plan.host, "port": cell.plan.port})


PLANTED = PeerClient(
    "planted", "a plugin", "a text", "imap greeting", _reads_without_bounds, plugin="tests.plugins.unbounded", good="OK"
)


@pytest.mark.slow
@pytest.mark.xdist_group("peers")
async def test_a_client_that_forgets_its_budget_fails_the_matrix(tmp_path: Path, forker: Forker) -> None:
    async with open_harness(tmp_path, forker, make_people(3), webs=1, workers=1, started=False) as harness:
        result = await hostile_peers(harness, clients=[PLANTED], manners=[BY_MANNER[FLOOD]])
    missed = " ".join(result.missed)
    assert f"planted, {FLOOD}: grew by" in missed
    assert f"planted, {FLOOD}: its person was told nothing" in missed
    assert "the control" not in missed
