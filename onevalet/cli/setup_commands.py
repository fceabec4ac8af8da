"""The commands that set OneValet up and look after it: `init`, `doctor`, `channels setup`, `pair`."""

from typing import Annotated

import typer

from core.people.access_policy import PersonRole
from onevalet.cli.options import Json, group
from onevalet.cli.runner import run_work

channels_app = group("Set up the channels at their providers.")


def init(
    file: Annotated[str, typer.Option(help="The file to write.")] = ".env",
    run: Annotated[
        str, typer.Option(help="Where it will run: dev, compose, or own (a Postgres and Redis of yours).")
    ] = "",
    preset: Annotated[
        str,
        typer.Option(
            help="The model's: local (a server that was found), openai, anthropic, gemini, mistral, groq, deepseek,"
            " openrouter, azure, server or demo."
        ),
    ] = "",
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An answer by the name of its setting; repeat it. @FILE reads the value from a file, @- from standard"
            " input. telegram=webhook and slack=http choose how messages come.",
        ),
    ] = None,
    look_at: Annotated[list[str] | None, typer.Option(help="A further address to look for a model server at.")] = None,
    reach: Annotated[bool, typer.Option(help="Whether PUBLIC_URL must be reachable from this machine, too.")] = True,
) -> None:
    """Set up the model and the channels: what to click where, each answer tried, and a .env that works."""
    from onevalet.cli.init import set_up

    set_up(file, given or [], preset, run, further=look_at or [], must_reach=reach)


def doctor(
    json: Json = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="First set webhooks, commands and menus at the providers as they should be.")
    ] = False,
) -> None:
    """Show what is configured and reachable, and what to fix; exit code 1 when something is wrong."""
    from onevalet.cli.doctor import print_checks

    if not run_work(lambda settings: print_checks(settings, as_json=json, fix=fix)):
        raise typer.Exit(1)


@channels_app.command("setup")
def set_up_channels(json: Json = False) -> None:
    """Set webhooks, commands and the like at the providers; print the changes and the steps left to do by hand."""
    from onevalet.cli.channels_setup import set_up_channels as set_up

    if not run_work(lambda settings: set_up(settings, as_json=json)):
        raise typer.Exit(1)


def pair(
    code: Annotated[str, typer.Argument(help="The code that the stranger was given.")] = "",
    address: Annotated[str, typer.Option(help="Instead of a code: an address, such as sms:+15551234567.")] = "",
    role: Annotated[PersonRole, typer.Option(help="The role they get.")] = PersonRole.MEMBER,
    tier: Annotated[
        str | None, typer.Option(help="A tier of ONEVALET_TIERS, for other limits than the role's.")
    ] = None,
) -> None:
    """Admit the person who was given this code, or an address; or change the role of an admitted person."""
    from onevalet.cli.pair import pair as let_in

    if not run_work(lambda settings: let_in(settings, code, role, tier, address)):
        raise typer.Exit(1)
