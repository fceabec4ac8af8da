"""`mcp list`, `mcp accept` and `mcp withdraw`: the MCP servers, and the operator's accepted tools."""

from typing import Annotated

import typer

from onevalet.cli.runner import run_work

Server = Annotated[str, typer.Argument(help="A server of ONEVALET_MCP.")]
ToolName = Annotated[str, typer.Argument(help="One tool; without it, all of the server.")]
Tenant = Annotated[str, typer.Option(help="Whose account opens a server that needs one.")]

servers_app = typer.Typer(rich_markup_mode=None)


@servers_app.command("list")
def list_tools(
    server: Annotated[str, typer.Argument(help="Only this server.")] = "",
    tenant: Tenant = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask each server for its tools, and print which are accepted, new, or changed since."""
    from abilities.mcp.accepting import print_tools

    run_work(lambda settings: print_tools(settings, server, tenant, as_json=json))


@servers_app.command("accept")
def accept_tools(
    server: Server,
    tool: ToolName = "",
    tenant: Tenant = "",
    anyway: Annotated[bool, typer.Option("--anyway", help="Accept also what looks like a trick.")] = False,
) -> None:
    """Show all that a server's tools would tell the model, and accept it; workers then offer them."""
    from abilities.mcp.accepting import accept

    if not run_work(lambda settings: accept(settings, server, tool, tenant, anyway=anyway)):
        raise typer.Exit(1)


@servers_app.command("withdraw")
def withdraw_tools(server: Server, tool: ToolName = "") -> None:
    """Offer a server's tools no longer."""
    from abilities.mcp.accepting import withdraw

    run_work(lambda settings: withdraw(settings, server, tool))
