"""The pages about people and deliveries change their version with what is on them, and only for who may see it."""

from core.people.linking import withdraw_codes
from core.people.profile import FactSource, ProfileStore
from operations.console.unsettled import UnsettledMessages
from tests.abilities.memory.test_pages import remember
from tests.operations.console.browser import Browser
from tests.operations.console.harness import ANN, BOB, Console
from tests.operations.console.test_deliveries import fail, lose
from tests.operations.console.test_linking import give_code
from tests.operations.console.test_people import knock


class Watcher:
    """One viewer's open pages."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._known: dict[str, str] = {}

    async def changed(self, page: str) -> bool:
        """Return whether a page has changed since it was looked at last."""
        await self._browser.get(f"/console/{page}")
        version = self._browser.version
        before, self._known[page] = self._known.get(page, ""), version
        return version != before


async def test_open_pages_are_told_of_each_change(console: Console) -> None:
    bob = await console.tenant(BOB)
    async with console.browser(ANN) as browser, console.browser(BOB) as phone:
        operator, person = Watcher(browser), Watcher(phone)
        page, memory = f"people/{bob}", f"people/{bob}/memory"
        for watcher, pages in ((operator, ("deliveries", "people", page)), (person, ("deliveries", page, memory))):
            for name in pages:
                await watcher.changed(name)
                assert not await watcher.changed(name), name

        failed = await fail(console, "Your cab is here.", BOB)
        assert await operator.changed("deliveries")
        assert await person.changed("deliveries")
        await UnsettledMessages(console.store.database, console.store.make_id).drop(bob, failed["message"])
        assert await operator.changed("deliveries")
        assert await person.changed("deliveries")

        await lose(console, "Your train is here.", BOB)
        assert await operator.changed("deliveries")
        assert await person.changed("deliveries")

        await console.store.reach(BOB, False, "SM_stop")
        for watcher in (operator, person):
            assert await watcher.changed("deliveries/stops")
            assert await watcher.changed(page)

        await knock(console)
        assert await operator.changed("people")

        await give_code(console, BOB)
        assert await person.changed(page)
        assert await withdraw_codes(console.store.database, bob, console.clock.now()) == 1
        assert await person.changed(page)

        await remember(console, BOB, "I am allergic to peanuts.")
        assert await person.changed(memory)
        facts = ProfileStore(console.store.database, console.store.make_id)
        await facts.keep(bob, "home_city", "Lisbon", FactSource.TOLD, "", console.clock.now())
        assert await person.changed(memory)


async def test_nobody_is_told_of_what_is_not_theirs(console: Console) -> None:
    ann = await console.tenant(ANN)
    async with console.browser(BOB) as phone:
        person = Watcher(phone)
        for page in ("deliveries", "deliveries/stops", "people", f"people/{ann}", f"people/{ann}/memory"):
            await person.changed(page)
        await fail(console, "Mine.", ANN)
        await console.store.reach(ANN, False, "SM_stop")
        await remember(console, ANN, "I am allergic to peanuts.")
        await give_code(console, ANN)
        await knock(console)
        for page in ("deliveries", "deliveries/stops", "people", f"people/{ann}", f"people/{ann}/memory"):
            assert not await person.changed(page), page
