"""Draw a benchmark's use of time, as a flame graph: of this process and of its children.

    uv run -m workbench.benchmarks.profile NAME [--to profile.svg] [--rate 200] [--rounds 1] [--small]

py-spy samples the benchmark from outside: it needs no rights, since it starts the process that it samples. In the
graph, each process is a tower of its own; a click enlarges it.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from workbench.benchmarks.__main__ import BENCHMARKS


def main() -> None:
    """Run a benchmark and write the graph."""
    parser = argparse.ArgumentParser(
        prog="python -m workbench.benchmarks.profile", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("name", choices=BENCHMARKS)
    parser.add_argument("--to", type=Path, default=Path("profile.svg"))
    parser.add_argument("--rate", type=int, default=200, help="samples a second")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="as the tests run it")
    options = parser.parse_args()
    profile(options.name, options.to, options.rate, options.rounds, small=options.small)
    sys.stdout.write(f"{options.to}\n")


def profile(name: str, to: Path, rate: int, rounds: int, *, small: bool = False) -> None:
    """Run a benchmark under py-spy."""
    spy = shutil.which("py-spy", path=str(Path(sys.executable).parent))
    if spy is None:
        raise SystemExit("py-spy is missing: uv sync")
    sampled = (
        sys.executable,
        "-m",
        "workbench.benchmarks",
        name,
        "--rounds",
        str(rounds),
        *(["--small"] if small else []),
    )
    recording = ("record", "--subprocesses", "--nonblocking", "--rate", str(rate), "--output", str(to), "--")
    subprocess.run((spy, *recording, *sampled), check=True)  # noqa: S603


if __name__ == "__main__":
    main()
