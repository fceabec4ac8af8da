"""Export and deletion from a person's page: who may, what is recorded, and what becomes of it."""

from operations.tenants.links import ExportLinks
from tests.core.credentials.harness import KEYS
from tests.operations.console.harness import ANN, BOB, Console
from tests.operations.console.test_people import press


async def test_people_export_what_is_theirs_and_nobody_elses(console: Console) -> None:
    ann, bob = await console.tenant(ANN), await console.tenant(BOB)
    own, anns = f"/console/people/{bob}", f"/console/people/{ann}"
    links = ExportLinks(console.store.database, "", KEYS)
    async with console.browser(BOB) as browser:
        await browser.get(own)
        assert await browser.post(f"{own}/export", {"proof": browser.proof}) == 303
        found = await links.find(browser.location.removeprefix("/export/"), console.clock.now())
        assert found is not None
        assert found.tenant_id == bob
        assert await press(browser, own, f"{anns}/export", {}) == 404
        assert await press(browser, own, f"{own}/delete", {"id": bob}) == 404
        assert await press(browser, own, f"{anns}/delete", {"id": ann}) == 404
        # Without the form's proof nothing is done.
        assert await browser.post(f"{own}/export") == 403
    async with console.browser(ANN) as browser:
        # An operator's way is the command line, whose archive has all texts.
        assert await press(browser, anns, f"{own}/export", {}) == 404
    assert await console.store.db.export_links.column("tenant_id") == [bob]
    assert await console.store.db.console_actions.column("what") == ["export"]


async def test_an_operator_deletes_others_by_their_id_and_not_themselves(console: Console) -> None:
    ann, bob = await console.tenant(ANN), await console.tenant(BOB)
    page, own = f"/console/people/{bob}", f"/console/people/{ann}"
    async with console.browser(ANN) as browser:
        assert await press(browser, page, f"{page}/delete", {"id": ann}) == 303
        assert "Nobody was deleted" in browser.text
        assert await press(browser, own, f"{own}/delete", {"id": ann}) == 404
        assert await console.store.db.deletions.count() == 0
        assert await press(browser, page, f"{page}/delete", {"id": bob}) == 303
        assert "A worker deletes them now" in browser.text
    assert await console.store.db.deletions.column("person", asked_by="operator") == [bob]
    assert await console.store.column("select tenant_id || what || subject from console_actions") == [
        f"{ann}delete{bob}"
    ]
