"""`halt` and `lift`: stop all work of the installation, and let it go on."""

import typer

from onevalet.cli.options import Json
from onevalet.cli.runner import run_work

halt_app = typer.Typer()
lift_app = typer.Typer()


@halt_app.command("halt")
def halt(json: Json = False) -> None:
    """Stop all work for everybody: no turn, task or delivery goes on until `lift`; incoming messages are kept."""
    from abilities.halts.operating import halt as begin

    run_work(lambda settings: begin(settings, as_json=json))


@lift_app.command("lift")
def lift(json: Json = False) -> None:
    """Resume all work after `halt`, or after HALT ALL in an owner's chat."""
    from abilities.halts.operating import lift as end

    run_work(lambda settings: end(settings, as_json=json))
