"""The group of commands about a person's data as a whole."""

from pathlib import Path
from typing import Annotated

import typer

from core.people.access_policy import PersonRole
from onevalet.cli.options import group
from onevalet.cli.runner import run_work

tenants_app = group("Export, delete and import all that is kept of a person.")

Person = Annotated[str, typer.Argument(help="The person's id, which `people list` shows.")]


@tenants_app.command("export")
def export_tenant(
    person: Person, file: Annotated[Path, typer.Argument(help="The zip file to write; it must not exist.")]
) -> None:
    """Write all that is kept of a person to a zip file: tables as JSON, files, calendar, contacts; never a secret."""
    from onevalet.cli.tenants import export_person

    run_work(lambda settings: export_person(settings, person, file))


@tenants_app.command("delete")
def delete_tenant(
    person: Person, yes: Annotated[bool, typer.Option("--yes", help="Delete; without it, nothing changes.")] = False
) -> None:
    """Delete a person for good: all rows and files, and our rights at their services."""
    from onevalet.cli.tenants import delete_person

    run_work(lambda settings: delete_person(settings, person, yes=yes))


@tenants_app.command("import")
def import_tenant(
    file: Annotated[Path, typer.Argument(help="What `tenants export` wrote.")],
    role: Annotated[
        PersonRole | None, typer.Option(help="The role they get; by default the exported one, but no owner.")
    ] = None,
    admit: Annotated[
        list[str] | None,
        typer.Option(help="An address, such as sms:+15551234567, that you know as theirs; may be repeated."),
    ] = None,
) -> None:
    """Import a person from an export; if it was not made here, only with the addresses that you admit."""
    from onevalet.cli.tenants import import_person

    run_work(lambda settings: import_person(settings, file, role, admit or []))
