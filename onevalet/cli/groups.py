"""The groups of commands about a person: credentials, agents and notifications."""

from pathlib import Path
from typing import Annotated

import typer

from core.notifications.types import Urgency
from onevalet.cli.approval_commands import approvals_app, consents_app
from onevalet.cli.backup_commands import backup, restore
from onevalet.cli.further_groups import FURTHER
from onevalet.cli.options import Json as Json
from onevalet.cli.options import Tenant, group
from onevalet.cli.runner import run_work

Account = Annotated[str, typer.Option(help="Which account of the service.")]
Agent = Annotated[str, typer.Argument(help="A waiting agent's id, or the beginning of it; `agents list` has them.")]

credentials_app = group("Store, list and delete people's credentials for services.")
keys_app = group("Change the keys that credentials are encrypted with.")
notify_app = group("People's addresses for notifications.")
agents_app = group("See, pause, resume and drop the agents that wait for people.")
people_app = group("See who is here, and what waits for whom.")
console_app = group("Sign in to the console, which shows what was done.")
deliveries_app = group("See messages that did not arrive or wait; send them again, or not.")
GROUPS = {
    "people": people_app,
    "credentials": credentials_app,
    "keys": keys_app,
    "notify": notify_app,
    "approvals": approvals_app,
    "consents": consents_app,
    "agents": agents_app,
    "console": console_app,
    "deliveries": deliveries_app,
    **FURTHER,
}
"""The groups of commands by name; commands under the empty name stand alone."""
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
    """Show a person's addresses, preferences, connected accounts and waiting work; never a secret."""
    from onevalet.cli.people import print_person

    run_work(lambda settings: print_person(settings, person, as_json=json))


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
    """Discard data sealed under lost secret keys: accounts and event sources that nothing can open."""
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
    """List messages that did not arrive, wait, or may have arrived, the newest first; without their texts."""
    from onevalet.cli.deliveries import print_deliveries

    run_work(lambda settings: print_deliveries(settings, as_json=json))


@deliveries_app.command("resend")
def resend_message(message: Annotated[str, typer.Argument(help="The message's id, out_….")]) -> None:
    """Send a message again; the parts of it that arrived are not repeated."""
    from onevalet.cli.deliveries import settle

    run_work(lambda settings: settle(settings, message, resend=True))


@deliveries_app.command("drop")
def drop_message(message: Annotated[str, typer.Argument(help="The message's id, out_….")]) -> None:
    """Leave a message that did not arrive at that; it is listed no more."""
    from onevalet.cli.deliveries import settle

    run_work(lambda settings: settle(settings, message, resend=False))
