"""The command line, with a supervisor that is less patient, and with shorter leases, than those that ship."""

import os
from datetime import timedelta

from onevalet.cli.main import main as run
from onevalet.supervision import heartbeat


def main() -> None:
    """Run a command; TEST_HUNG_AFTER, TEST_CPU_AFTER and TEST_LANE_LEASE are in seconds."""
    if lease := os.environ.get("TEST_LANE_LEASE"):
        # Only a worker needs it, and it takes long to load.
        import onevalet.wiring.worker_parts

        onevalet.wiring.worker_parts.LANE_LEASE = timedelta(seconds=float(lease))
    heartbeat.HUNG_AFTER = int(os.environ.get("TEST_HUNG_AFTER", heartbeat.HUNG_AFTER))
    heartbeat.CPU_AFTER = float(os.environ.get("TEST_CPU_AFTER", heartbeat.CPU_AFTER))
    run()
