"""The command line, in a process whose supervisor is less patient than the one that ships."""

import os

from onevalet.cli.main import main as run
from onevalet.supervision import heartbeat


def main() -> None:
    """Run a command; TEST_HUNG_AFTER and TEST_CPU_AFTER are in seconds."""
    heartbeat.HUNG_AFTER = int(os.environ.get("TEST_HUNG_AFTER", heartbeat.HUNG_AFTER))
    heartbeat.CPU_AFTER = float(os.environ.get("TEST_CPU_AFTER", heartbeat.CPU_AFTER))
    run()
