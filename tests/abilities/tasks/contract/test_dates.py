"""Dates with a lead over each channel: over the end of a year, on 29 February, in two languages, and undone."""

from collections.abc import AsyncIterator
from datetime import datetime

import pytest

from abilities.tasks.dates import RemindBefore
from core.agents.registry import AgentRegistry
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import BERLIN, repeats
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import wants


@pytest.fixture
async def system(channel: str, database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield a person in Berlin; it is Saturday, 21 November 2026, 13:00."""
    async with open_proactive(HARNESSES[channel], database_url, redis_url) as system:
        system.options["agents"] = AgentRegistry([RemindBefore])
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin", "preferred_channel": channel})
        yield system


async def sets(system: Proactive, **given: object) -> str:
    """Let the model set a reminder; return what the person then reads."""
    return await system.hears("please", wants(("remind_before", given)), repeats)  # type: ignore[arg-type]


async def test_a_date_with_a_lead_is_told_over_the_years_in_two_languages(system: Proactive) -> None:
    said = await sets(system, text="the vow", day="01-01", days_before=7, yearly=True)
    assert "each year, 1 week before 1 January: the vow. The next time is Fri 25 Dec 2026, 09:00" in said
    admin = system.delivery.store.admin
    await admin.execute("update tenants set language = 'de', language_from = ''")
    said = await sets(system, text="Omas Geburtstag", day="02-29", days_before=7, yearly=True)
    both = "dem 29. Februar (28. Februar in anderen Jahren): Omas Geburtstag."
    assert f"jedes Jahr, 1 Woche vor {both}" in said
    assert "So., 21. Feb. 2027, 09:00" in said
    await sets(system, text="Steuer", day="2027-01-04", days_before=14)
    assert "Steuer" in await system.hears("nimm das zurück", wants(("undo_last", {"words": "Steuer"})), repeats)
    assert "the vow" in await system.is_at(datetime(2026, 12, 25, 9, 0, tzinfo=BERLIN))
    assert await system.is_at(datetime(2027, 2, 21, 8, 59, tzinfo=BERLIN)) == ""
    common = await system.is_at(datetime(2027, 2, 21, 9, 0, tzinfo=BERLIN))
    assert common.startswith("Erinnerung: Omas Geburtstag, am 29")
    assert await system.is_at(datetime(2028, 2, 22, 9, 0, tzinfo=BERLIN)) == common, "that year has a 29 February"
