"""Answers to the words about actions done without asking."""

from core.clock import zone_or_utc
from core.consents.words import consents_text, withdrawn_text
from core.language.catalogue import gettext
from core.messaging.chat_words import CommandAnswer
from core.turns.words.asked import Asked


async def list_consents(asked: Asked) -> CommandAnswer | None:
    """List the actions that are done without asking."""
    services, tenant = asked.rooms.orchestrator.services, asked.request.tenant
    if (store := services.consents) is None:
        return None
    now = services.clock.now()
    return CommandAnswer(consents_text(await store.active(tenant.id, now), zone_or_utc(tenant.timezone), now))


async def withdraw(asked: Asked) -> CommandAnswer | None:
    """End a consent, or all; return None if the person never gave any, so that the word is a text like any other."""
    services, tenant, inbound = asked.rooms.orchestrator.services, asked.request.tenant, asked.request.inbound
    if (store := services.consents) is None:
        return None
    number = int(asked.command.argument) if asked.command.argument else None
    how = f"word {inbound[-1].id}" if inbound else "word"
    if ended := await store.withdraw(tenant.id, number, how, services.clock.now()):
        return CommandAnswer(withdrawn_text(ended))
    if number is not None:
        return CommandAnswer(gettext("There is no such consent."))
    return CommandAnswer(gettext("There is nothing left to end.")) if await store.all(tenant.id) else None
