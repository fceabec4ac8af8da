"""Options that many commands have."""

from typing import Annotated

import typer

# Not `type` statements: typer does not look through them.
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Tenant = Annotated[str, typer.Option(help="The person; may be omitted where there is only one.")]
