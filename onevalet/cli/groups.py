"""The groups of commands about one person: credentials, events, tasks and notifications."""

from pathlib import Path
from typing import Annotated

import typer

from abilities.events.source_types import A_MINUTE, SourceOptions, Style
from core.notifications.types import Urgency
from onevalet.cli.approval_commands import approvals_app, consents_app
from onevalet.cli.backup_commands import backup, restore
from onevalet.cli.further_groups import FURTHER
from onevalet.cli.options import Json as Json
from onevalet.cli.options import Tenant, group
from onevalet.cli.runner import run_work

Account = Annotated[str, typer.Option(help="Which account of the service.")]
Agent = Annotated[str, typer.Argument(help="A waiting agent's id, or the beginning of it; `agents list` has them.")]
Which = Annotated[str, typer.Argument(help="A task's id, its number, or words of its title.")]

credentials_app = group("Store, list and delete people's credentials for services.")
keys_app = group("Change the keys that credentials are encrypted with.")
events_app = group("See received events and their sources.")
source_app = group("Create, list and delete sources of events.")
events_app.add_typer(source_app, name="source")
notify_app = group("People's addresses for notifications.")
tasks_app = group("See and change people's tasks, and ask why they ran.")
agents_app = group("See, pause, resume and drop the agents that wait for people.")
people_app = group("See who is here, and what waits for whom.")
console_app = group("Sign in to the console, which shows what was done.")
deliveries_app = group("See messages that failed or wait; send them again, or not.")
memory_app = group("See what is remembered of a person.")
GROUPS = {
    "people": people_app,
    "memory": memory_app,
    "credentials": credentials_app,
    "keys": keys_app,
    "events": events_app,
    "notify": notify_app,
    "tasks": tasks_app,
    "approvals": approvals_app,
    "consents": consents_app,
    "agents": agents_app,
    "console": console_app,
    "deliveries": deliveries_app,
    **FURTHER,
}
"""The groups of commands by their names; those of the one without a name stand alone."""
COMMANDS = (backup, restore)
"""Commands in no group whose options have a file of their own."""


@people_app.command("list")
def list_people(json: Json = False) -> None:
    """List everybody with their addresses."""
    from onevalet.cli.people import print_people

    run_work(lambda settings: print_people(settings, as_json=json))


@people_app.command("show")
def show_person(
    person: Annotated[str, typer.Argument(help="The person's id; may be omitted where there is only one.")] = "",
    json: Json = False,
) -> None:
    """Show a person's addresses, preferences and connected accounts, and what waits; never a secret."""
    from onevalet.cli.people import print_person

    run_work(lambda settings: print_person(settings, person, as_json=json))


@memory_app.command("list")
def list_memories(
    ended: Annotated[bool, typer.Option("--ended", help="Include memories that hold no longer.")] = False,
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """List what is remembered of a person; listing changes nothing."""
    from onevalet.cli.memory import print_memories

    run_work(lambda settings: print_memories(settings, tenant, ended=ended, as_json=json))


@credentials_app.command("set")
def set_credentials(service: str, tenant: Tenant = "", account: Account = "primary") -> None:
    """Store credentials, read from standard input as one JSON object."""
    from onevalet.cli.credentials import set_credentials as keep

    run_work(lambda settings: keep(settings, tenant, service, account))


@credentials_app.command("list")
def list_credentials(
    service: Annotated[str, typer.Argument(help="Only of this service.")] = "", tenant: Tenant = "", json: Json = False
) -> None:
    """List a person's connected accounts, without secrets."""
    from onevalet.cli.credentials import print_credentials

    run_work(lambda settings: print_credentials(settings, tenant, service, as_json=json))


@credentials_app.command("delete")
def delete_credentials(service: str, tenant: Tenant = "", account: Account = "primary") -> None:
    """Delete the credentials of an account."""
    from onevalet.cli.credentials import delete_credentials as forget

    run_work(lambda settings: forget(settings, tenant, service, account))


@keys_app.command("rotate")
def rotate_keys(json: Json = False) -> None:
    """Wrap everybody's data key with the newest of ONEVALET_SECRET_KEYS, while everything runs."""
    from onevalet.cli.credentials import rotate

    if not run_work(lambda settings: rotate(settings, as_json=json)):
        raise typer.Exit(1)


@keys_app.command("discard")
def discard_keys(
    yes: Annotated[bool, typer.Option("--yes", help="Discard; without it, only list.")] = False, json: Json = False
) -> None:
    """Discard what was sealed under secret keys that are lost: accounts and event sources that nothing opens."""
    from onevalet.cli.lost_keys import discard

    run_work(lambda settings: discard(settings, yes=yes, as_json=json))


@keys_app.command("backup")
def back_up_keys(file: Annotated[Path, typer.Argument(help="The file to write; it must not exist.")]) -> None:
    """Write the secret keys to a file, under a passphrase from the terminal or from standard input."""
    from onevalet.cli.key_copies import write_copy

    run_work(lambda settings: write_copy(settings, file))


@keys_app.command("restore")
def restore_keys(file: Annotated[Path, typer.Argument(help="What `keys backup` wrote.")]) -> None:
    """Print the keys of a copy as a line for `.env`; the passphrase comes from the terminal or standard input."""
    from onevalet.cli.key_copies import print_keys

    run_work(lambda _: print_keys(file))


@source_app.command("add")
def add_event_source(
    name: str,
    style: Annotated[Style, typer.Option(help="How its requests are verified.")] = Style.BEARER,
    tenant: Tenant = "",
    secret: Annotated[bool, typer.Option("--secret", help="Read the secret from standard input.")] = False,
    signature_header: Annotated[str, typer.Option(help="The header of the secret or signature.")] = "",
    timestamp_header: Annotated[str, typer.Option(help="hmac: the header of the signed time.")] = "",
    id_header: Annotated[str, typer.Option(help="bearer, github: the header of an event's id.")] = "",
    id_field: Annotated[str, typer.Option(help="The id's path in the body: names joined by dots.")] = "",
    type_header: Annotated[str, typer.Option(help="bearer, github: the header of an event's type.")] = "",
    type_field: Annotated[str, typer.Option(help="The type's path in the body.")] = "",
    a_minute: Annotated[int, typer.Option(min=1, help="The number of events it may send in a minute.")] = A_MINUTE,
) -> None:
    """Create a source; print its URL, and its secret only this once."""
    from abilities.events.operating import add_source

    options = SourceOptions(signature_header, timestamp_header, id_header, id_field, type_header, type_field, a_minute)
    run_work(lambda settings: add_source(settings, tenant, name, style, options, read_secret=secret))


@source_app.command("list")
def list_event_sources(tenant: Tenant = "", json: Json = False) -> None:
    """List a person's sources, without secrets."""
    from abilities.events.operating import print_sources

    run_work(lambda settings: print_sources(settings, tenant, as_json=json))


@source_app.command("delete")
def delete_event_source(name: str, tenant: Tenant = "") -> None:
    """Delete a source; its received events stay."""
    from abilities.events.operating import delete_source

    run_work(lambda settings: delete_source(settings, tenant, name))


@tasks_app.command("list")
def list_tasks(
    stopped: Annotated[bool, typer.Option("--stopped", help="Include stopped tasks.")] = False,
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """List a person's tasks; listing changes nothing."""
    from abilities.tasks.operating import print_tasks

    run_work(lambda settings: print_tasks(settings, tenant, stopped=stopped, as_json=json))


@tasks_app.command("pause")
def pause_task(which: Which, tenant: Tenant = "") -> None:
    """Pause a task until it is resumed."""
    from abilities.tasks.operating import change_task

    run_work(lambda settings: change_task(settings, tenant, which, "pause"))


@tasks_app.command("resume")
def resume_task(which: Which, tenant: Tenant = "") -> None:
    """Resume a paused or disabled task; missed runs are not made up for."""
    from abilities.tasks.operating import change_task

    run_work(lambda settings: change_task(settings, tenant, which, "resume"))


@tasks_app.command("retry")
def retry_task(
    which: Annotated[str, typer.Argument(help="A task's id, its number, or words of its title; by default all.")] = "",
    tenant: Annotated[str, typer.Option(help="The person; by default everybody.")] = "",
) -> None:
    """Retry tasks that an unforeseen error set aside; missed runs follow each task's policy."""
    from abilities.tasks.operating import retry_tasks

    run_work(lambda settings: retry_tasks(settings, tenant, which))


@tasks_app.command("run")
def run_task(which: Which, tenant: Tenant = "") -> None:
    """Run a task once, outside its schedule."""
    from abilities.tasks.operating import run_task as run

    run_work(lambda settings: run(settings, tenant, which))


@tasks_app.command("why")
def why_task(which: Which, tenant: Tenant = "", json: Json = False) -> None:
    """Show why a task ran or did not: what was seen, decided and delivered."""
    from abilities.tasks.operating import print_why

    run_work(lambda settings: print_why(settings, tenant, which, as_json=json))


@tasks_app.command("dry-run")
def dry_run_task(
    which: Which,
    expression: Annotated[str, typer.Option(help="Try this condition instead, over recorded data.")] = "",
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """Show a task's next ten times, or its condition or filter over recorded data; change nothing."""
    from abilities.tasks.operating import print_dry_run

    run_work(lambda settings: print_dry_run(settings, tenant, which, expression, as_json=json))


@agents_app.command("list")
def list_agents(tenant: Tenant = "", json: Json = False) -> None:
    """List the agents that wait for people, of one person or of all."""
    from onevalet.cli.agents import print_agents

    run_work(lambda settings: print_agents(settings, tenant, as_json=json))


@agents_app.command("pause")
def pause_agent(agent: Agent, tenant: Tenant = "") -> None:
    """Pause an agent that waits for an answer; it takes none until it is resumed."""
    _change_agent("pause", agent, tenant)


@agents_app.command("resume")
def resume_agent(agent: Agent, tenant: Tenant = "") -> None:
    """Resume a paused agent, which asks again."""
    _change_agent("resume", agent, tenant)


@agents_app.command("cancel")
def cancel_agent(agent: Agent, tenant: Tenant = "") -> None:
    """Drop a waiting agent; the person is told."""
    _change_agent("cancel", agent, tenant)


def _change_agent(change: str, agent: str, tenant: str) -> None:
    from onevalet.cli.agents import change_agent

    run_work(lambda settings: change_agent(settings, change, agent, tenant))


@events_app.command("list")
def list_events(
    set_aside: Annotated[bool, typer.Option("--set-aside", help="Only events that could not be handled.")] = False,
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """List the newest events and their states."""
    from abilities.events.operating import print_events

    run_work(lambda settings: print_events(settings, tenant, set_aside=set_aside, as_json=json))


@events_app.command("retry")
def retry_event(source: str, id: str, tenant: Tenant = "") -> None:
    """Handle an event again that was set aside."""
    from abilities.events.operating import retry_event as retry

    run_work(lambda settings: retry(settings, tenant, source, id))


@notify_app.command("add")
def add_address(
    channel: Annotated[str, typer.Argument(help="push, email, or a channel of your own that only sends.")],
    address: Annotated[
        str, typer.Argument(help="An email address, a topic of ntfy, apprise:KEY, or what your channel takes.")
    ],
    tenant: Tenant = "",
) -> None:
    """Add an address for a person's notifications."""
    from onevalet.cli.notify import add_address as keep

    run_work(lambda settings: keep(settings, tenant, channel, address))


@notify_app.command("list")
def list_addresses(tenant: Tenant = "", json: Json = False) -> None:
    """List a person's addresses for notifications."""
    from onevalet.cli.notify import print_addresses

    run_work(lambda settings: print_addresses(settings, tenant, as_json=json))


@notify_app.command("delete")
def delete_address(channel: str, address: str, tenant: Tenant = "") -> None:
    """Delete an address."""
    from onevalet.cli.notify import delete_address as forget

    run_work(lambda settings: forget(settings, tenant, channel, address))


@notify_app.command("send")
def send_notification(
    text: str,
    urgency: Annotated[Urgency, typer.Option(help="urgent passes quiet hours, low waits for the digest.")] = (
        Urgency.NORMAL
    ),
    tenant: Tenant = "",
) -> None:
    """Send a person a notification by their preferences; exit code 1 when it does not reach them."""
    from onevalet.cli.notify import send_notification as send

    if not run_work(lambda settings: send(settings, tenant, text, urgency)):
        raise typer.Exit(1)


@console_app.command("link")
def link_to_console(tenant: Tenant = "") -> None:
    """Print a link that signs in once: by default the owner's, whose console shows everybody's."""
    from onevalet.cli.console import print_link

    run_work(lambda settings: print_link(settings, tenant))


@deliveries_app.command("list")
def list_deliveries(json: Json = False) -> None:
    """List messages that failed, wait, or may have arrived, the newest first; without their texts."""
    from onevalet.cli.deliveries import print_deliveries

    run_work(lambda settings: print_deliveries(settings, as_json=json))


@deliveries_app.command("resend")
def resend_message(message: Annotated[str, typer.Argument(help="The message's id, out_….")]) -> None:
    """Send a message again; the parts of it that arrived are not repeated."""
    from onevalet.cli.deliveries import settle

    run_work(lambda settings: settle(settings, message, resend=True))


@deliveries_app.command("drop")
def drop_message(message: Annotated[str, typer.Argument(help="The message's id, out_….")]) -> None:
    """Leave a message that failed at that; it is listed no more."""
    from onevalet.cli.deliveries import settle

    run_work(lambda settings: settle(settings, message, resend=False))
