"""The commands of those who build on OneValet."""

from pathlib import Path
from typing import Annotated

import typer

from onevalet.cli.new_files import kinds, write_new
from onevalet.cli.runner import run_work, say

building_app = typer.Typer(rich_markup_mode=None)


@building_app.command()
def simulate(
    file: Annotated[Path, typer.Argument(help="A scenario, as docs/testing.md describes it.")],
    channel: Annotated[str, typer.Option(help="Play it on this channel instead of its own.")] = "",
    watch: Annotated[bool, typer.Option(help="Show it on the simulator's page, and stay there.")] = False,
    speed: Annotated[str, typer.Option(help="Where it is watched: own, fast or step.")] = "own",
    back: Annotated[str, typer.Option(hidden=True)] = "",
    held: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Play a scenario on an installation of its own, with simulated providers, and print the talk."""
    from onevalet.wiring import workbench

    if watch:
        run_work(lambda _: workbench.watch(file, channel, speed, back, held=held))
    else:
        run_work(lambda _: workbench.simulate(file, channel))


def _checked(kind: str) -> str:
    if kind not in kinds():
        raise typer.BadParameter(f"{kind!r} is not one of {', '.join(map(repr, kinds()))}")
    return kind


@building_app.command()
def new(
    kind: Annotated[str, typer.Argument(callback=_checked, help=f"What to begin: {', '.join(kinds())}.")],
    name: Annotated[str, typer.Argument(help="Its name, such as water_plants.")],
    package: Annotated[str, typer.Option(help="The package that it is written into.")] = "household",
) -> None:
    """Write something to begin with, such as a tool, and its test, which passes."""
    files, hint = write_new(kind, name, package, Path.cwd())
    for path in files:
        say(str(path.relative_to(Path.cwd())))
    say(hint)
