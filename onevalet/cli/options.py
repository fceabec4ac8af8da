"""Options and groups shared by many commands."""

from typing import Annotated

import typer

from onevalet.cli.help_page import WholeSentences

# Not `type` statements: typer does not look through them.
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Tenant = Annotated[str, typer.Option(help="The person; may be omitted where there is only one.")]


def group(help: str, *, alone: bool = False) -> typer.Typer:
    """Return a group of commands. `alone`: the group's name without a command does something, too."""
    return typer.Typer(
        cls=WholeSentences, help=help, no_args_is_help=not alone, invoke_without_command=alone, rich_markup_mode=None
    )
