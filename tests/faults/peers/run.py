"""T22: each client with a peer of each manner, while somebody else writes; what that cost is judged."""

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from tests.eventually import eventually
from tests.faults.database import read_rows
from tests.faults.harness import Harness
from tests.faults.peers.clients import CLIENTS, PLUGINS, PeerClient, accept
from tests.faults.peers.judging import Seen, judge
from tests.faults.peers.serving import PeerPlan
from tests.faults.peers.speech import LINES
from tests.faults.peers.stage import Cell, Stage, metered, open_stage
from tests.faults.results import Result, conclude, settle, timed
from tests.patience import patience, slowness
from tests.ports import free_port
from tests.servers.hostile_peers import GOOD, MANNERS, Manner, Speech

TOLD_WITHIN = 8.0
"""Seconds within which a person is told on a quiet machine: our processes are impatient here."""
_OTHERS_WITHIN = 15.0
_TEXTS = 3
"""How many texts somebody else writes beside each peer, at least."""
_MOST_TEXTS = 8
_TO_REMEMBER = "select id from memory_jobs where not_before <= now()"


@dataclass(frozen=True, slots=True)
class House:
    """Clients that meet their peers in the same processes of ours, to begin which takes as long as to meet one."""

    settings: dict[str, str] = field(default_factory=dict)
    clients: list[tuple[PeerClient, list[Cell]]] = field(default_factory=list)

    def has_room(self, settings: dict[str, str]) -> bool:
        """Return whether these settings say nothing else than those of the clients that are in it."""
        return all(self.settings.get(name, value) == value for name, value in settings.items())

    async def begin(self, stage: Stage) -> None:
        """Begin our processes anew, with all that these clients want."""
        cells = [cell for _, cells in self.clients for cell in cells]
        hosts = [f"{host}:{cell.plan.port}" for cell in cells for host in (cell.plan.host, cell.plan.elsewhere)]
        hosts += [f"{_calm(cells[0]).host}:{stage.port}" for _, cells in self.clients]
        plugins = filter(None, (PLUGINS, *(client.plugin for client, _ in self.clients)))
        named = {"ONEVALET_PLUGINS": ",".join(plugins), "ONEVALET_FETCH_HOSTS": ",".join(hosts)}
        await accept(stage, [cell for cell in cells if cell.plan.speech in ("mcp", "mcp pipes")])
        await stage.begin(named | self.settings)
        await stage.talk(patience(_OTHERS_WITHIN))  # what is loaded with the first text is nobody's affair


def houses(stage: Stage, clients: Iterable[tuple[PeerClient, list[Cell]]]) -> list[House]:
    """Divide clients, in their order, by settings that exclude each other."""
    found = [House()]
    for client, cells in clients:
        settings = client.settings(stage, cells)
        if not found[-1].has_room(settings):
            found.append(House())
        found[-1].settings.update(settings)
        found[-1].clients.append((client, cells))
    return found


def manners_for(client: PeerClient, manners: Sequence[Manner] = MANNERS) -> list[Manner]:
    """Return the manners that make sense for a client."""
    return [manner for manner in manners if not why_not(client, manner)]


def why_not(client: PeerClient, manner: Manner) -> str:
    """Return why a manner makes no sense for a client; empty where it does."""
    over_lines = client.speech in LINES
    if (manner.lines if over_lines else manner.web) is None:
        return "it is about HTTP" if over_lines else "it is about lines"
    if manner.secured and (client.alone or client.speech == "mcp pipes"):
        return "its one address has no certificate here" if client.alone else "pipes have no certificates"
    if manner.at_once and client.speech == "mcp pipes":
        return "pipes have no greeting"
    if not manner.needs(_shape(client)):
        return "its protocol has nothing like it"
    return client.without.get(manner.name, "")


def _shape(client: PeerClient) -> Speech:
    """Return what a client's peers can say at all."""
    if client.speech in ("mcp", "mcp pipes"):
        return Speech(lambda value: b"", b"", line=b"{", more=b"{}")
    return LINES[client.speech].speech if client.speech in LINES else Speech(lambda value: b"", b"")


async def hostile_peers(
    harness: Harness, *, clients: Sequence[PeerClient] = CLIENTS, manners: Sequence[Manner] = MANNERS
) -> Result:
    """T22: each of these clients with a peer of each of these manners."""
    result = Result(
        "T22", "peers that speak as nobody should", "others answered within 2 times, 50 MB, 100 ms, its person told"
    )
    async with timed(result), open_stage(harness) as stage:
        plans = [(client, _cells(stage, number, client, manners)) for number, client in enumerate(clients)]
        for house in houses(stage, plans):
            await house.begin(stage)
            for client, cells in house.clients:
                _note(result, client, await meet(stage, client, cells))
        await settle(harness, result)
        evidence = await conclude(harness, stage.said, result)
        sent = Counter(token for send in evidence.sends if send.accepted for token in send.tokens)
        doubled = [saying.token for saying in stage.said if sent[saying.token] > 1]
        result.numbers["doubled"] = str(len(doubled))
        result.require(not doubled, f"{len(doubled)} texts were answered twice: {doubled[:3]}")
    return result


def _note(result: Result, client: PeerClient, seen: Sequence[Seen]) -> None:
    calm, *hostile = seen
    missed = {one.manner: bars for one in hostile if (bars := judge(one, calm))}
    well = len(hostile) - len(missed)
    longest = max((one.others_median for one in hostile), default=0.0)
    result.numbers[client.name] = (
        f"{well} of {len(hostile)} manners; others {longest:.2f} s at the most ({calm.others_median:.2f} s without), "
        f"{max((one.grown for one in hostile), default=0.0):.0f} MB, "
        f"{max((one.still for one in hostile), default=0.0) * 1000:.0f} ms"
    )
    for words in judge(calm, calm):
        result.missed.append(f"the control: {words}")
    result.missed += [bar for bars in missed.values() for bar in bars]


def _cells(stage: Stage, number: int, client: PeerClient, manners: Sequence[Manner]) -> list[Cell]:
    chosen = (GOOD, *manners_for(client, manners))
    return [_cell(stage, number, at, client, manner) for at, manner in enumerate(chosen)]


def _calm(first: Cell) -> PeerPlan:
    """Return the peer that is as it should be, which somebody else uses meanwhile."""
    host = first.plan.host.replace(".0.", ".2.")
    return replace(first.plan, cell=f"{first.name}-calm", host=host, elsewhere=host.replace(".2.", ".3."))


def _cell(stage: Stage, number: int, at: int, client: PeerClient, manner: Manner) -> Cell:
    name, person = f"{number}-{at}", stage.next_person()
    own = 1 if client.alone else at + 1
    # The issuer of tokens is believed over plain HTTP only by the one name that is surely this machine's.
    is_issuer = client.speech.startswith("oauth")
    plan = PeerPlan(
        name,
        manner.name,
        client.speech,
        host="127.0.0.1" if is_issuer else f"127.{10 + number}.0.{own}",
        port=free_port() if is_issuer else stage.port,
        elsewhere=f"127.{10 + number}.1.{own}",
    )
    return Cell(plan, person)


async def meet(stage: Stage, client: PeerClient, cells: Sequence[Cell]) -> list[Seen]:
    """Let a client meet a peer of each cell, the first of which is as it should be."""
    calm = _calm(cells[0])
    beside = stage.start(calm)
    stage.calm_address = Cell(calm, cells[0].person).address
    seen = [await _met(stage, client, cell, is_good=not at) for at, cell in enumerate(cells)]
    beside.send_signal(signal.SIGKILL)
    await beside.wait()
    return seen


async def _met(stage: Stage, client: PeerClient, cell: Cell, *, is_good: bool) -> Seen:
    """Let a client meet one peer, while somebody else writes."""
    peer = stage.start(cell.plan)
    await stage.listens(cell.plan)
    await stage.known(cell)
    await client.prepare(stage, cell)
    if is_good:  # what the client loads the first time is nobody's affair
        await _asked(stage, client, cell)
    await eventually(partial(_has_remembered, stage), "memory's jobs: the first loads much")
    try:
        async with metered(stage.harness.members) as meter:
            began, since = time.monotonic(), stage.now
            asking = asyncio.create_task(_asked(stage, client, cell))
            others: list[float] = []
            while len(others) < _TEXTS or (not asking.done() and len(others) < _MOST_TEXTS):
                others.append(await client.beside(stage, patience(_OTHERS_WITHIN)))
                if others[-1] >= _OTHERS_WITHIN:
                    break
            told = await asking
        noted = stage.met(cell.plan)
        if is_good:
            assert max(others) < _OTHERS_WITHIN, f"{client.name}: nobody is answered even without a hostile peer"
            assert client.good in (told or "nothing"), f"{client.name}, as it should be: {told}; {meter.errors()}"
        return Seen(
            client.name,
            cell.plan.manner,
            others,
            told,
            meter.grown,
            stage.late(since),
            met=any(line["what"] == "met" for line in noted) or cell.plan.is_secure,
            errors=meter.errors(),
            betrayed=any(line.get("credential") for line in noted),
            slowness=slowness(),
            seconds=time.monotonic() - began,
            held=meter.held,
            grew=meter.grew,
        )
    finally:
        await client.clear(stage, cell)
        peer.send_signal(signal.SIGKILL)
        await peer.wait()


async def _has_remembered(stage: Stage) -> bool:
    return not await read_rows(stage.harness, _TO_REMEMBER)


async def _asked(stage: Stage, client: PeerClient, cell: Cell) -> str | None:
    """Let the product speak to the peer, and return what the person was told; None where that was nothing in time."""
    await asyncio.wait_for(client.ask(stage, cell), patience(4 * TOLD_WITHIN))
    with suppress(AssertionError):
        return await eventually(partial(client.told, stage, cell), within=TOLD_WITHIN)
    return None
