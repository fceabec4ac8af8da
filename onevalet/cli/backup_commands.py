"""The commands `backup` and `restore`, with their options."""

from pathlib import Path
from typing import Annotated

import typer

from onevalet.cli.runner import run_work


def backup(
    file: Annotated[
        Path | None, typer.Argument(help="The zip file to write; by default a new one in the folder of backups.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write the whole installation to one file, while it runs: all rows of one moment, and people's files."""
    from onevalet.cli.backup import back_up

    run_work(lambda settings: back_up(settings, file, as_json=json))


def restore(
    file: Annotated[Path, typer.Argument(help="What `backup` wrote.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Only try: restore into a database of its own, check it, and drop it.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete what is in the database; otherwise it must be empty.")
    ] = False,
) -> None:
    """Bring a backup back into an empty database; a file that was cut or changed is refused, and nothing changes."""
    from onevalet.cli.backup import restore as put_back

    run_work(lambda settings: put_back(settings, file, replace=replace, verify=verify))
