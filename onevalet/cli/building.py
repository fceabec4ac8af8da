"""The commands of those who build on OneValet."""

from pathlib import Path
from typing import Annotated

import typer

from onevalet.cli.runner import run_work

building_app = typer.Typer()


@building_app.command()
def simulate(
    file: Annotated[Path, typer.Argument(help="A scenario, as docs/testing.md describes it.")],
    channel: Annotated[str, typer.Option(help="Play it on this channel instead of its own.")] = "",
) -> None:
    """Play a scenario on an installation of its own, with simulated providers, and print the talk."""
    from onevalet.testing.command import simulate as play_file

    run_work(lambda _: play_file(file, channel))
