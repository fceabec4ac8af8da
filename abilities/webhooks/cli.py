"""`webhooks …`: the endpoints of events, their secrets, and the fate of each message."""

from typing import Annotated

import typer

from onevalet.cli.options import Json, group
from onevalet.cli.runner import run_work

Which = Annotated[str, typer.Argument(help="An endpoint's id; `webhooks list` has them.")]

webhooks_app = group("Tell other systems of events, by signed requests.")


@webhooks_app.command("add")
def add_endpoint(
    url: Annotated[str, typer.Argument(help="The address, https://…; one inside needs ONEVALET_FETCH_HOSTS.")],
    kind: Annotated[
        list[str] | None,
        typer.Option(help="turn.done, turn.failed, effect.done, approval.decided or delivery.failed; by default all."),
    ] = None,
) -> None:
    """Subscribe an address; print its id, and the secret that its signatures are checked with."""
    from abilities.webhooks.operating import add

    run_work(lambda settings: add(settings, url, kind or ()))


@webhooks_app.command("list")
def list_endpoints(json: Json = False) -> None:
    """List the endpoints, with the messages waiting for each and those given up; without secrets."""
    from abilities.webhooks.operating import print_endpoints

    run_work(lambda settings: print_endpoints(settings, as_json=json))


@webhooks_app.command("secret")
def show_secret(endpoint: Which) -> None:
    """Print the secret of an endpoint."""
    from abilities.webhooks.operating import print_secret

    run_work(lambda settings: print_secret(settings, endpoint))


@webhooks_app.command("rotate")
def rotate_secret(endpoint: Which) -> None:
    """Make a new secret and print it; the one before signs too for a day."""
    from abilities.webhooks.operating import rotate

    run_work(lambda settings: rotate(settings, endpoint))


@webhooks_app.command("enable")
def enable_endpoint(endpoint: Which) -> None:
    """Send to an endpoint again, and first the messages that wait for it."""
    from abilities.webhooks.operating import change

    run_work(lambda settings: change(settings, endpoint, active=True))


@webhooks_app.command("disable")
def disable_endpoint(endpoint: Which) -> None:
    """Send nothing more to an endpoint for now; events in the meantime are not kept for it."""
    from abilities.webhooks.operating import change

    run_work(lambda settings: change(settings, endpoint, active=False))


@webhooks_app.command("delete")
def delete_endpoint(endpoint: Which) -> None:
    """Delete an endpoint with all messages that wait for it."""
    from abilities.webhooks.operating import delete

    run_work(lambda settings: delete(settings, endpoint))
