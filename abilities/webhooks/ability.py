"""Signed webhooks out: what happened is told to the addresses that an operator subscribed."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Commands, ConsolePages, Repeated
from onevalet.foundations import ServiceFoundation, WorkFoundation

if TYPE_CHECKING:
    from typer import Typer

    from core.queue.claims import ClaimedWork
    from operations.doctor.types import Probe


def _commands() -> "Typer":
    from abilities.webhooks.cli import webhooks_app

    return webhooks_app


def _pages(_: ServiceFoundation) -> ConsolePages:
    from abilities.webhooks.pages import WebhookPages

    return ConsolePages([WebhookPages], menu=[("webhooks", "Webhooks")])


def _probes() -> "Sequence[Probe]":
    from abilities.webhooks.probes import PROBES

    return PROBES


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> "Sequence[Repeated | ClaimedWork[Any]]":
    from abilities.webhooks.opening import open_work

    return open_work(stack, foundation)


ABILITY = Ability(
    name="webhooks",
    tables=(PersonTable("webhook_messages", Belonging(Merge.MOVE), None, Archiving(Archived.LEFT_OUT)),),
    commands=(Commands("webhooks", "Run", _commands),),
    pages=_pages,
    probes=_probes,
    work=_work,
)
