"""Hosts with little CPU each, so that a few cores show how many machines saturate in sequence."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.cpu_limits import limited
from workbench.benchmarks.scale.cost import PARTS
from workbench.benchmarks.scale.installation import WEBS, Installation, Network

CORE = 0.05
"""The speed of a host's core, as a share of a core of this machine: all of them together then fit on two shared cores.
"""
CORES = {"Postgres": 4, "PgBouncer": 1, "workers": 1, "web": 1, "Valkey": 1}
"""Cores of each host. All but Postgres are single-threaded programs, which can use only a single core."""


@contextmanager
def small_hosts(installation: Installation, network: Network) -> Iterator[None]:
    """Limit every host for the block."""
    places = network.places(len(installation.system.workers))
    hosts = {
        "Postgres": [places.postgres],
        "PgBouncer": [network.pooler],
        "workers": places.workers,
        "web": places.webs,
        "Valkey": [places.valkey],
    }
    with limited([(host, CORES[part] * CORE) for part in PARTS for host in hosts[part]]):
        yield


def shares(rate: float, cost: dict[str, float], workers: int) -> dict[str, float]:
    """Return each part's use of its share, from messages a second and milliseconds a message."""
    number = {"workers": workers, "web": WEBS}
    return {part: rate * cost[part] / 1000 / (CORE * CORES[part] * number.get(part, 1)) for part in PARTS}
