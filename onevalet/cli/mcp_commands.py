"""`mcp …`: the MCP servers, what of theirs the operator accepts, and the assistant as a server of its own."""

from typing import Annotated

import typer

from onevalet.cli.options import group
from onevalet.cli.runner import run_work

Server = Annotated[str, typer.Argument(help="A server of ONEVALET_MCP.")]
ToolName = Annotated[str, typer.Argument(help="One tool; without it, all of the server.")]
Tenant = Annotated[str, typer.Option(help="Whose account opens a server that needs one.")]

mcp_app = group(
    "Without a command: serve the program that started this one, by the token in ONEVALET_MCP_TOKEN.", alone=True
)


@mcp_app.callback()
def serve(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        from onevalet.cli.mcp_serving import serve_pipes

        run_work(serve_pipes)


@mcp_app.command("token")
def make_token(
    name: Annotated[str, typer.Argument(help="What to call the program.")],
    tenant: Annotated[str, typer.Option(help="Whose assistant it asks; needed where there are several people.")] = "",
) -> None:
    """Make a token by which a program asks a person's assistant; it is shown once."""
    from onevalet.cli.mcp_serving import make

    run_work(lambda settings: make(settings, tenant, name))


@mcp_app.command("tokens")
def list_tokens(
    tenant: Annotated[str, typer.Option(help="Whose.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List a person's tokens, without what proves them."""
    from onevalet.cli.mcp_serving import print_tokens

    run_work(lambda settings: print_tokens(settings, tenant, as_json=json))


@mcp_app.command("revoke")
def revoke_token(
    number: Annotated[int, typer.Argument(help="The token's number.")],
    tenant: Annotated[str, typer.Option(help="Whose.")] = "",
) -> None:
    """Revoke a token at once."""
    from onevalet.cli.mcp_serving import revoke

    run_work(lambda settings: revoke(settings, tenant, number))


@mcp_app.command("list")
def list_tools(
    server: Annotated[str, typer.Argument(help="Only this server.")] = "",
    tenant: Tenant = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask each server what it offers, and say what of it is accepted, new, or changed since."""
    from onevalet.cli.mcp_tools import print_tools

    run_work(lambda settings: print_tools(settings, server, tenant, as_json=json))


@mcp_app.command("accept")
def accept_tools(
    server: Server,
    tool: ToolName = "",
    tenant: Tenant = "",
    anyway: Annotated[bool, typer.Option("--anyway", help="Accept also what looks like a trick.")] = False,
) -> None:
    """Show what a server's tools say, all that the model would be told, and accept it; workers then offer them."""
    from onevalet.cli.mcp_tools import accept

    if not run_work(lambda settings: accept(settings, server, tool, tenant, anyway=anyway)):
        raise typer.Exit(1)


@mcp_app.command("withdraw")
def withdraw_tools(server: Server, tool: ToolName = "") -> None:
    """Offer a server's tools no longer."""
    from onevalet.cli.mcp_tools import withdraw

    run_work(lambda settings: withdraw(settings, server, tool))
