"""The providers in a process of their own: the simulator, with its journal in a file.

`python -m tests.faults.providers FILE`, FILE holding the JSON of `ProvidersPlan`. It ends at SIGTERM.
"""

import asyncio
import json
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from core.clock import Clock
from workbench.simulator.app import serve_simulator
from workbench.simulator.config import Person, SimulatorConfig


@dataclass(frozen=True, slots=True)
class ProvidersPlan:
    """What the providers are told."""

    port: int
    url: str
    """Where the gateway reaches them, as the addresses of files say."""
    gateway_url: str
    public_url: str
    people: list[Person]
    journal: str
    clock: str
    pace: float
    patience: float
    seed: int

    def to_json(self) -> str:
        """Return it as text for the process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ProvidersPlan":
        """Read what `to_json` gave."""
        values = json.loads(text)
        return cls(**values | {"people": [Person(**person) for person in values["people"]]})


def main() -> None:
    """Serve until told to stop."""
    plan = ProvidersPlan.from_json(Path(sys.argv[1]).read_text())
    asyncio.run(_serve(plan))


async def _serve(plan: ProvidersPlan) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    config = SimulatorConfig(
        gateway_url=plan.gateway_url,
        public_url=plan.public_url,
        people=tuple(plan.people),
        journal_path=Path(plan.journal),
        pace=plan.pace,
        patience=plan.patience,
        seed=plan.seed,
    )
    async with serve_simulator(config, Clock(Path(plan.clock)), "127.0.0.1", plan.port) as simulator:
        simulator.wire.url = plan.url
        await stop.wait()


if __name__ == "__main__":
    main()
