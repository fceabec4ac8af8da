"""A talk with the demo model by SMS in each language: what the person reads for errands, notes, plans and links."""

from collections.abc import AsyncIterator, Iterator

import pytest

from abilities.lists.notes import add_note, forget_note, list_notes
from abilities.web.reading import read_page
from agents.arithmetic import calculate
from agents.clock import current_time
from core.http.guarded_client import GuardedClient
from core.tools.storage import Storage
from providers.models.litellm_client import LiteLLMClient
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.web.caches import no_pages_kept
from tests.contract.channel_harnesses import SmsHarness
from tests.core.language.english import english_in
from tests.servers.site import Site, open_site
from workbench.demo.model import DEMO_MODEL

PAGE = "<html><head><title>Die Fähre</title></head><body><p>Sie fährt täglich um neun.</p></body></html>"


@pytest.fixture(autouse=True)
def fresh_pages() -> Iterator[None]:
    """Begin without a page that another test has read."""
    with no_pages_kept():
        yield


@pytest.fixture
async def system(database_url: str, redis_url: str) -> AsyncIterator[tuple[Proactive, Site]]:
    """Yield a system with the tools of errands, answered by the demo model, and a page outside."""
    client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await client.warm_up()
    async with open_site() as site, open_proactive(SmsHarness, database_url, redis_url) as system:
        site.pages["/a"] = PAGE
        http = GuardedClient(allowed_hosts=[site.host])
        system.model = client
        system.more += [current_time, calculate, add_note, list_notes, forget_note, read_page]
        system.options |= {"storage": Storage(system.delivery.store.database), "http": http}
        yield system, site
        await http.close()
    await client.close()


TALKS: dict[str, tuple[tuple[str, str], ...]] = {
    "de": (
        ("Was ist 17,5 % von 260?", "17,5 / 100 * 260 = 45,5"),
        ("Notiz: Milch kaufen", "Milch kaufen"),
        ("Jeden Werktag um 8 meine Notizen", "werktags (Mo-Fr) um 08:00 Uhr"),
        ("EDIT {code} mach 15 Uhr daraus", "werktags (Mo-Fr) um 15:00 Uhr"),
        ("ja", "Aufgabe 1"),
        ("{site}/a", "Sie fährt täglich um neun."),
    ),
    "zh": (
        ("看看我的笔记", "没有笔记。"),
        ("周五从北京到罗马的航班", "北京"),
        ("{site}/b", "没有这个网页。"),
    ),
}


@pytest.mark.parametrize("language", TALKS)
async def test_errands_are_talked_through_in_the_persons_language(
    system: tuple[Proactive, Site], language: str
) -> None:
    valet, site = system
    await valet.delivery.store.db.tenants.change(
        {"language": language, "language_from": "", "timezone": "Europe/Berlin"}
    )
    for said, answer in TALKS[language]:
        code = await valet.code() if "{code}" in said else ""
        read = "\n".join(await valet.told(said.format(site=site.url, code=code)))
        assert answer in read, f"{said}: {read}"
        assert "[" not in read, said
        assert "* *" not in read, "cron is for machines"
        assert language == "en" or english_in(read, language) == [], said
