"""`memory …`: the memories of a person."""

from typing import Annotated

import typer

from onevalet.cli.options import Json, Tenant, group
from onevalet.cli.runner import run_work

memory_app = group("See what is remembered of a person.")


@memory_app.command("list")
def list_memories(
    ended: Annotated[bool, typer.Option("--ended", help="Include memories that hold no longer.")] = False,
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """List a person's memories; listing changes nothing."""
    from abilities.memory.listing import print_memories

    run_work(lambda settings: print_memories(settings, tenant, ended=ended, as_json=json))
