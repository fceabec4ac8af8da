"""`receipts …`: check a file of receipts, write one for a person, and show the key that signs them."""

from pathlib import Path
from typing import Annotated

import typer

from onevalet.cli.options import Json, Tenant, group
from onevalet.cli.runner import in_sentences, run_work

receipts_app = group("Receipts of what was done in people's names.")


@receipts_app.command("verify")
def verify_file(
    file: Annotated[Path, typer.Argument(help="The file.")],
    key: Annotated[str, typer.Option(help="The fingerprint of the key that must have signed it.")] = "",
    json: Json = False,
) -> None:
    """Check a file of receipts offline: no database and no settings are needed. Exit code 1: it was changed."""
    from abilities.receipts.operating import print_verified

    in_sentences(lambda: print_verified(file, key, as_json=json))


@receipts_app.command("export")
def export_file(
    file: Annotated[Path, typer.Argument(help="The new file.")],
    period: Annotated[str, typer.Option(help="Such as 2026-10, 2026 or a number of days.")] = "",
    tenant: Tenant = "",
) -> None:
    """Write the receipts of a person into a new file, signed by this installation."""
    from abilities.receipts.operating import export

    run_work(lambda settings: export(settings, file, period, tenant))


@receipts_app.command("key")
def show_key(json: Json = False) -> None:
    """Show the keys that sign receipts here, the newest first: publish the fingerprint, so that others can compare."""
    from abilities.receipts.operating import print_keys

    run_work(lambda settings: print_keys(settings, as_json=json))
