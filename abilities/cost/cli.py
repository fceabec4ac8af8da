"""`cost`: the cost of models and texts."""

from typing import Annotated

import typer

from onevalet.cli.options import Json
from onevalet.cli.runner import run_work

cost_app = typer.Typer()


@cost_app.command("cost")
def cost(
    days: Annotated[int, typer.Option(min=1, max=365, help="The last days, today included.")] = 30, json: Json = False
) -> None:
    """Print the cost of models and SMS, in total and by person."""
    from abilities.cost.operating import print_cost

    run_work(lambda settings: print_cost(settings, days, as_json=json))
