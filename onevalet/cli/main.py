"""The command line: commands and options. Their work is in other modules, imported when a command runs."""

from functools import partial
from typing import Annotated

import typer

from onevalet import __version__
from onevalet.ability_registry import all_abilities
from onevalet.cli.groups import COMMANDS, GROUPS, Json
from onevalet.cli.help_page import CommandsByHeading
from onevalet.cli.runner import in_sentences, read_settings, run_commands, run_work, say, serve
from onevalet.cli.setup_commands import channels_app, doctor, init, pair
from onevalet.supervision.garbage import collect_nothing_yet

app = typer.Typer(
    name="onevalet",
    cls=CommandsByHeading,
    rich_markup_mode=None,
    help="A personal assistant that people reach by the messaging they already have.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(channels_app, name="channels")
for _name, _group in GROUPS.items():
    app.add_typer(_group, name=_name or None)
for _commands in (commands for ability in all_abilities() for commands in ability.commands):
    if _commands.alone:
        app.add_typer(_commands.load())
    elif _commands.name in GROUPS:
        GROUPS[_commands.name].add_typer(_commands.load())
    else:
        app.add_typer(_commands.load(), name=_commands.name)
for _command in COMMANDS:
    app.command()(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"OneValet {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


@app.command()
def dev(
    processes: Annotated[
        bool, typer.Option(help="Run web and worker as processes of their own, which the page can kill.")
    ] = False,
) -> None:
    """Run everything in one process: database, Redis, web, worker; no accounts needed.

    It listens on PORT (8080), and the simulator on the next port: PORT=9000 bin/dev. Data lies in ONEVALET_HOME.
    """
    from onevalet.wiring.workbench import start_dev

    serve(partial(start_dev, processes=processes))


app.command()(init)
app.command()(doctor)
app.command()(pair)


@app.command()
def web() -> None:
    """Run a web process, which receives messages. Any number may run."""
    collect_nothing_yet()
    from onevalet.app import run_web

    serve(run_web)


@app.command()
def worker(
    spare: Annotated[
        bool, typer.Option(help="Run under a supervisor that replaces the worker at once when it is killed.")
    ] = True,
    check: Annotated[
        bool, typer.Option("--check", help="Run nothing: exit 0 if the running worker is healthy, else 1.")
    ] = False,
) -> None:
    """Run a worker process, which answers messages. Any number may run."""
    if check:
        _check_worker_health()
        return
    collect_nothing_yet()
    from onevalet.app import run_worker
    from onevalet.supervision.supervisor import supervise, work_alone
    from onevalet.wiring.connections import check_worker

    settings = read_settings()
    check_worker(settings)
    run = supervise if spare else work_alone
    run(lambda start: in_sentences(lambda: serve(partial(run_worker, start=start))), settings)


def _check_worker_health() -> None:
    from onevalet.supervision.health import health_problem, stalls_told

    path = read_settings().onevalet_health_file
    if problem := health_problem(path):
        say(problem)
        raise typer.Exit(1)
    stalls = "; ".join(stalls_told(path) if path else ())
    say(f"The worker is at work, but not all is well: {stalls}." if stalls else "The worker is at work.")


@app.command()
def migrate(
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Apply nothing: exit 0 if the database is up to date, 1 if not, 3 if it is newer than the code.",
        ),
    ] = False,
) -> None:
    """Bring the database up to the newest migration."""
    from onevalet.cli.migrate import apply_pending, print_pending

    run_work(print_pending if check else apply_pending)


@app.command()
def chat() -> None:
    """Talk with the assistant in this terminal."""
    from onevalet.cli.chat import run_chat

    serve(run_chat)


@app.command()
def trace(
    id: Annotated[str, typer.Argument(help="Any id: message, turn, outbound, or the provider's own.")],
    json: Json = False,
) -> None:
    """Show the path of a message."""
    from onevalet.cli.trace import print_trace

    run_work(lambda settings: print_trace(settings, id, as_json=json))


@app.command()
def replay(
    turn: Annotated[str, typer.Argument(help="The id of a turn, or of a message or answer of one.")],
    model: Annotated[str, typer.Option(help="Run the turn again over 'recorded' answers, or over this model.")] = "",
    json: Json = False,
) -> None:
    """Write a turn's journal as JSON lines; with --model, run it again and show where it diverges."""
    from onevalet.cli.replay import print_replay

    if not run_work(lambda settings: print_replay(settings, turn, model, as_json=json)):
        raise typer.Exit(1)


def main() -> None:
    """Run the command line. Exit code 2: the operator must change something, and a sentence says how."""
    in_sentences(lambda: run_commands(app))
