"""`connect` and `accounts`: a link to connect an account, and the list of a person's accounts."""

import typer

from onevalet.cli.options import Json
from onevalet.cli.runner import run_work

connect_app = typer.Typer()
accounts_app = typer.Typer()


@connect_app.command()
def connect(service: str, account: str = "", tenant: str = "") -> None:
    """Print a link by which a person connects an account of a service, to pass on to them."""
    from abilities.accounts.operating import print_link

    run_work(lambda settings: print_link(settings, service, account, tenant))


@accounts_app.command()
def accounts(tenant: str = "", json: Json = False) -> None:
    """List what a person has connected, what each account may, and which has to be renewed; never a secret."""
    from abilities.accounts.operating import print_accounts

    run_work(lambda settings: print_accounts(settings, tenant, as_json=json))
