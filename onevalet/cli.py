"""The command line: every command's words and options; the work is elsewhere, imported when it is asked for."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated

import typer

from core.access import PersonRole
from core.errors import ConfigError, OneValetError
from core.events.source_types import A_MINUTE, SourceOptions, Style
from core.notifications.types import Urgency
from onevalet.settings import Settings, load_settings

# Not `type` statements: typer does not look through them.
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Tenant = Annotated[str, typer.Option(help="Whose; may be left out where there is one person only.")]
Account = Annotated[str, typer.Option(help="Which account of the service.")]

app = typer.Typer(
    name="onevalet",
    help="A personal assistant that people reach by the messaging they already have.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
credentials_app = typer.Typer(no_args_is_help=True, help="Keep, list and forget people's credentials for services.")
keys_app = typer.Typer(no_args_is_help=True, help="Change the keys that credentials are kept under.")
app.add_typer(credentials_app, name="credentials")
channels_app = typer.Typer(no_args_is_help=True, help="Set up the channels at their providers.")
app.add_typer(keys_app, name="keys")
app.add_typer(channels_app, name="channels")
events_app = typer.Typer(no_args_is_help=True, help="See the events that came, and where they may come from.")
source_app = typer.Typer(no_args_is_help=True, help="Make, list and delete sources of events.")
events_app.add_typer(source_app, name="source")
app.add_typer(events_app, name="events")
notify_app = typer.Typer(no_args_is_help=True, help="Where people are told things by push and email.")
app.add_typer(notify_app, name="notify")
tasks_app = typer.Typer(no_args_is_help=True, help="See what people have planned, change it, and ask why it ran.")
app.add_typer(tasks_app, name="tasks")
approvals_app = typer.Typer(
    no_args_is_help=True, help="See what waits for people's consent, and decide in their place."
)
app.add_typer(approvals_app, name="approvals")
Which = Annotated[str, typer.Argument(help="A task's id, its number, or words of its title.")]


@app.command()
def dev() -> None:
    """Run everything in one process: database, Redis, web, worker; no accounts needed."""
    from onevalet.dev import run_dev

    _serve(run_dev)


@app.command()
def web() -> None:
    """Run a web process: take messages in. Any number may run."""
    from onevalet.app import run_web

    _serve(run_web)


@app.command()
def worker(
    spare: Annotated[
        bool, typer.Option(help="Keep a process ready that takes over at once when the worker is killed.")
    ] = True,
) -> None:
    """Run a worker process: answer messages. Any number may run."""
    from onevalet.app import check_worker, run_worker

    if not spare:
        _serve(run_worker)
        return
    from onevalet.keeper import keep

    check_worker(_settings())
    keep(lambda dead: _in_sentences(lambda: _serve(partial(run_worker, dead=dead))))


@app.command()
def migrate() -> None:
    """Bring the database up to the newest migration."""
    from core.migrate import migrate as apply_migrations
    from onevalet.app import database_url

    applied = _run(lambda settings: apply_migrations(database_url(settings)))
    _print("\n".join(f"applied {name}" for name in applied) or "The database is up to date.")


@app.command()
def chat() -> None:
    """Talk with the assistant in this terminal."""
    from onevalet.chat import run_chat

    _serve(run_chat)


@app.command()
def trace(
    id: Annotated[str, typer.Argument(help="Any id: message, turn, outbound, or the provider's own.")],
    json: Json = False,
) -> None:
    """Show the whole path of a message."""
    from onevalet.trace import print_trace

    _run(lambda settings: print_trace(settings, id, as_json=json))


@app.command()
def replay(
    turn: Annotated[str, typer.Argument(help="The id of a turn, or of a message or answer of one.")],
    model: Annotated[
        str, typer.Option(help="Run it again: 'recorded' over the recorded answers, or over this model.")
    ] = "",
    json: Json = False,
) -> None:
    """Write a turn's journal as JSON lines; with --model, run it again and show where it diverges."""
    from onevalet.replay import print_replay

    if not _run(lambda settings: print_replay(settings, turn, model, as_json=json)):
        raise typer.Exit(1)


@app.command()
def doctor(json: Json = False) -> None:
    """Show what is configured and reachable, and what to fix; exit code 1 when something is wrong."""
    from onevalet.doctor import print_checks

    if not _run(lambda settings: print_checks(settings, as_json=json)):
        raise typer.Exit(1)


@app.command()
def pair(
    code: Annotated[str, typer.Argument(help="What the stranger was given.")],
    role: Annotated[PersonRole, typer.Option(help="What they become.")] = PersonRole.MEMBER,
    tier: Annotated[str, typer.Option(help="Other limits than the role's: a name in ONEVALET_TIERS.")] = "",
) -> None:
    """Let in whoever was given this code; beside running processes too."""
    from onevalet.pair import pair as let_in

    if not _run(lambda settings: let_in(settings, code, role, tier)):
        raise typer.Exit(1)


@credentials_app.command("set")
def set_credentials(service: str, tenant: Tenant = "", account: Account = "primary") -> None:
    """Keep credentials, read from standard input as one JSON object."""
    from onevalet.vault import set_credentials as keep

    _run(lambda settings: keep(settings, tenant, service, account))


@credentials_app.command("list")
def list_credentials(
    service: Annotated[str, typer.Argument(help="Of this service only.")] = "", tenant: Tenant = "", json: Json = False
) -> None:
    """List a person's connected accounts, never what is secret."""
    from onevalet.vault import print_credentials

    _run(lambda settings: print_credentials(settings, tenant, service, as_json=json))


@credentials_app.command("delete")
def delete_credentials(service: str, tenant: Tenant = "", account: Account = "primary") -> None:
    """Forget the credentials of an account."""
    from onevalet.vault import delete_credentials as forget

    _run(lambda settings: forget(settings, tenant, service, account))


@keys_app.command("rotate")
def rotate_keys(json: Json = False) -> None:
    """Bring everybody's data key under the newest of ONEVALET_SECRET_KEYS, while everything runs."""
    from onevalet.vault import rotate

    if not _run(lambda settings: rotate(settings, as_json=json)):
        raise typer.Exit(1)


@channels_app.command("setup")
def set_up_channels(json: Json = False) -> None:
    """Set webhooks, commands and the like at the providers; says what changed and what is left to do by hand."""
    from onevalet.setup import set_up_channels as set_up

    if not _run(lambda settings: set_up(settings, as_json=json)):
        raise typer.Exit(1)


@source_app.command("add")
def add_event_source(
    name: str,
    style: Annotated[Style, typer.Option(help="How it proves itself.")] = Style.BEARER,
    tenant: Tenant = "",
    secret: Annotated[bool, typer.Option("--secret", help="Read the secret from standard input.")] = False,
    signature_header: Annotated[str, typer.Option(help="Where the secret or signature stands.")] = "",
    timestamp_header: Annotated[str, typer.Option(help="hmac: where the signed time stands.")] = "",
    id_header: Annotated[str, typer.Option(help="Where an event's id stands.")] = "",
    id_field: Annotated[str, typer.Option(help="The same in the body: names joined by dots.")] = "",
    type_header: Annotated[str, typer.Option(help="Where an event's type stands.")] = "",
    type_field: Annotated[str, typer.Option(help="The same in the body.")] = "",
    a_minute: Annotated[int, typer.Option(min=1, help="How many events it may send in a minute.")] = A_MINUTE,
) -> None:
    """Make a source; prints its URL, and its secret this once."""
    from onevalet.event_sources import add_source

    options = SourceOptions(signature_header, timestamp_header, id_header, id_field, type_header, type_field, a_minute)
    _run(lambda settings: add_source(settings, tenant, name, style, options, read_secret=secret))


@source_app.command("list")
def list_event_sources(tenant: Tenant = "", json: Json = False) -> None:
    """List a person's sources, never their secrets."""
    from onevalet.event_sources import print_sources

    _run(lambda settings: print_sources(settings, tenant, as_json=json))


@source_app.command("delete")
def delete_event_source(name: str, tenant: Tenant = "") -> None:
    """Delete a source; the events that came stay."""
    from onevalet.event_sources import delete_source

    _run(lambda settings: delete_source(settings, tenant, name))


@tasks_app.command("list")
def list_tasks(
    stopped: Annotated[bool, typer.Option("--stopped", help="Those too that were stopped.")] = False,
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """List a person's tasks; listing moves nothing."""
    from onevalet.tasks import print_tasks

    _run(lambda settings: print_tasks(settings, tenant, stopped=stopped, as_json=json))


@tasks_app.command("pause")
def pause_task(which: Which, tenant: Tenant = "") -> None:
    """Let a task rest until it is resumed."""
    from onevalet.tasks import change_task

    _run(lambda settings: change_task(settings, tenant, which, "pause"))


@tasks_app.command("resume")
def resume_task(which: Which, tenant: Tenant = "") -> None:
    """Let a paused or disabled task go on; what was missed is not made up for."""
    from onevalet.tasks import change_task

    _run(lambda settings: change_task(settings, tenant, which, "resume"))


@tasks_app.command("run")
def run_task(which: Which, tenant: Tenant = "") -> None:
    """Run a task once, besides its schedule."""
    from onevalet.tasks import run_task as run

    _run(lambda settings: run(settings, tenant, which))


@tasks_app.command("why")
def why_task(which: Which, tenant: Tenant = "", json: Json = False) -> None:
    """Say why a task ran or did not: what was seen, what was decided, what was delivered."""
    from onevalet.tasks import print_why

    _run(lambda settings: print_why(settings, tenant, which, as_json=json))


@tasks_app.command("dry-run")
def dry_run_task(
    which: Which,
    expression: Annotated[str, typer.Option(help="Try this condition instead, over what was seen.")] = "",
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """Show a task's next ten times, or its condition or filter over recorded data; nothing is changed."""
    from onevalet.tasks import print_dry_run

    _run(lambda settings: print_dry_run(settings, tenant, which, expression, as_json=json))


@approvals_app.command("list")
def list_approvals(tenant: Tenant = "", json: Json = False) -> None:
    """List what waits for people's consent."""
    from onevalet.approvals import print_approvals

    _run(lambda settings: print_approvals(settings, tenant, as_json=json))


@approvals_app.command("decide")
def decide_approval(code: str, decision: str, tenant: Tenant = "", json: Json = False) -> None:
    """Decide in a person's place: approve or cancel; the audit says that it was the operator."""
    from onevalet.approvals import decide

    _run(lambda settings: decide(settings, code, decision, tenant, as_json=json))


@events_app.command("list")
def list_events(
    set_aside: Annotated[bool, typer.Option("--set-aside", help="Those only that could not be handled.")] = False,
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """List the newest events and what became of them."""
    from onevalet.event_sources import print_events

    _run(lambda settings: print_events(settings, tenant, set_aside=set_aside, as_json=json))


@events_app.command("retry")
def retry_event(source: str, id: str, tenant: Tenant = "") -> None:
    """Handle an event that was set aside once more."""
    from onevalet.event_sources import retry_event as retry

    _run(lambda settings: retry(settings, tenant, source, id))


@notify_app.command("add")
def add_address(
    channel: Annotated[str, typer.Argument(help="push or email.")],
    address: Annotated[str, typer.Argument(help="An email address, a topic of ntfy, or apprise:KEY.")],
    tenant: Tenant = "",
) -> None:
    """Let a person be told things at this address, too."""
    from onevalet.places import add_address as keep

    _run(lambda settings: keep(settings, tenant, channel, address))


@notify_app.command("list")
def list_addresses(tenant: Tenant = "", json: Json = False) -> None:
    """List a person's addresses for push and email."""
    from onevalet.places import print_addresses

    _run(lambda settings: print_addresses(settings, tenant, as_json=json))


@notify_app.command("delete")
def delete_address(channel: str, address: str, tenant: Tenant = "") -> None:
    """Forget an address."""
    from onevalet.places import delete_address as forget

    _run(lambda settings: forget(settings, tenant, channel, address))


@notify_app.command("send")
def send_notification(
    text: str,
    urgency: Annotated[Urgency, typer.Option(help="urgent passes quiet hours, low waits for the digest.")] = (
        Urgency.NORMAL
    ),
    tenant: Tenant = "",
) -> None:
    """Tell a person something, as they want to be told; exit code 1 when it does not reach them."""
    from onevalet.places import send_notification as send

    if not _run(lambda settings: send(settings, tenant, text, urgency)):
        raise typer.Exit(1)


def main() -> None:
    """Run the command line; what the operator must change is one sentence and exit code 2."""
    _in_sentences(app)


def _in_sentences(work: Callable[[], object]) -> None:
    try:
        work()
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except OneValetError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.exit(1)


def _run[Result](work: Callable[[Settings], Awaitable[Result]]) -> Result:
    settings = _settings()

    async def run() -> Result:
        return await work(settings)

    return asyncio.run(run())


def _serve(work: Callable[[Settings, asyncio.Event], Awaitable[None]]) -> None:
    settings = _settings()

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        await work(settings, stop)

    asyncio.run(run())


def _settings() -> Settings:
    from onevalet.logs import set_up_logs

    settings = load_settings()
    set_up_logs(settings.onevalet_log, settings.secrets())
    return settings


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
