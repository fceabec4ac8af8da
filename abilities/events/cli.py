"""`events list`, `events retry` and `events source …`: received events and their sources."""

from typing import Annotated

import typer

from abilities.events.source_types import A_MINUTE, SourceOptions, Style
from onevalet.cli.options import Json, Tenant, group
from onevalet.cli.runner import run_work

events_app = group("See received events and their sources.")
source_app = group("Create, list and delete sources of events.")
events_app.add_typer(source_app, name="source")


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
