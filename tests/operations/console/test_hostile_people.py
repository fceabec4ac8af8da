"""Markup in what people wrote, are called or connected is text on the pages about them."""

from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, Console, open_console
from tests.operations.console.test_linking import give_code
from tests.operations.console.test_people import press
from tests.operations.console.walks import registered

EVIL = "<img src=x onerror=alert(1)>"
NAMED = (
    "update tenants set name = $1",
    "update identities set name = $1",
    "update inbound set text = $1, reason = $1",
    "update outbound set text = $1, reason = $1, state = 'failed'",
    "update turns set reason = $1",
)
"""Statements that give people, messages and turns a name or a text."""


async def test_what_people_wrote_is_text_on_these_pages(console: Console) -> None:
    ann = await console.tenant(ANN)
    await console.store.db.tenants.change({"name": EVIL})
    await console.store.db.identities.change({"name": EVIL})
    await console.credentials.save(ann, "acme", {"token": "s3cret"}, EVIL)
    assert console.memory is not None
    await console.memory(ann).remember(f"I am called {EVIL}.", "key")
    await console.store.db.outbound.change({"state": "failed", "text": EVIL, "reason": EVIL})
    code = await give_code(console, BOB)
    own = f"/console/people/{ann}"
    async with console.browser(ANN) as browser:
        for page in ("/console/people", own, f"{own}/memory", "/console/deliveries"):
            await browser.get(page)
            assert "&lt;img" in browser.page, page
            assert "<img" not in browser.page, page
        for form, fields in (
            ("link", {"code": code}),
            ("memory/forget", {"number": "1"}),
            ("disconnect", {"service": "acme", "account": EVIL}),
        ):
            assert await press(browser, own, f"{own}/{form}", fields) == 200, form
            assert "&lt;img" in browser.page, form
            assert "<img" not in browser.page, form


async def test_no_registered_page_shows_markup_of_what_it_names(database_url: str) -> None:
    async with opened(database_url) as store, open_console(store, texts=True) as console:
        for statement in NAMED:
            await store.admin.execute(statement, EVIL)
        pages, wrong = await addresses(console), set[str]()
        named = dict.fromkeys((page.split("/")[2] for page in pages), 0)
        async with console.browser(ANN) as owner:
            for page in pages:
                await owner.get(f"{page}?q=img")
                wrong |= {page} if "<img" in owner.page or "&lt;img" not in owner.page else set()
                named[page.split("/")[2]] += owner.page.count("&lt;img") - 1
        assert wrong == set(), "each names its visitor at least, and none has markup"
        assert {place for place, times in named.items() if times} >= {"conversations", "deliveries", "people", "turns"}


async def addresses(console: Console) -> list[str]:
    """Return the address of each registered page, for each id that the database knows of Bob's."""
    row = await console.store.admin.fetchrow(
        "select c.tenant_id, c.id, t.id as turn from conversations c join turns t on t.conversation_id = c.id"
        " where c.peer = $1",
        BOB,
    )
    assert row is not None
    pages = [page for one in row.values() for page in registered(console, "GET", row["tenant_id"], one)]
    return [page for page in dict.fromkeys(pages) if page not in ("/console", "/console/live")]
