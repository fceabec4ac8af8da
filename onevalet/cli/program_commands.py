"""`mcp`, `mcp token` and the like: the assistant as an MCP server, and the tokens of the programs that ask it."""

from typing import Annotated

import typer

from onevalet.cli.options import group
from onevalet.cli.runner import run_work

mcp_app = group(
    "Without a command: serve the program that started this one, by the token in ONEVALET_MCP_TOKEN.", alone=True
)


@mcp_app.callback()
def serve(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        from onevalet.cli.program_serving import serve_pipes

        run_work(serve_pipes)


@mcp_app.command("token")
def make_token(
    name: Annotated[str, typer.Argument(help="What to call the program.")],
    tenant: Annotated[
        str, typer.Option(help="The person whose assistant it asks; required if there are several.")
    ] = "",
) -> None:
    """Make a token by which a program asks a person's assistant; it is shown once."""
    from onevalet.cli.program_serving import make

    run_work(lambda settings: make(settings, tenant, name))


@mcp_app.command("tokens")
def list_tokens(
    tenant: Annotated[str, typer.Option(help="Whose.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List a person's tokens, without their secrets."""
    from onevalet.cli.program_serving import print_tokens

    run_work(lambda settings: print_tokens(settings, tenant, as_json=json))


@mcp_app.command("revoke")
def revoke_token(
    number: Annotated[int, typer.Argument(help="The token's number.")],
    tenant: Annotated[str, typer.Option(help="Whose.")] = "",
) -> None:
    """Revoke a token at once."""
    from onevalet.cli.program_serving import revoke

    run_work(lambda settings: revoke(settings, tenant, number))
