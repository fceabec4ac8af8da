"""Markup in what people wrote, are called or connected is text on the pages about them."""

from tests.operations.console.harness import ANN, BOB, Console
from tests.operations.console.test_linking import give_code
from tests.operations.console.test_people import press


async def test_what_people_wrote_is_text_on_these_pages(console: Console) -> None:
    evil, ann = "<img src=x onerror=alert(1)>", await console.tenant(ANN)
    await console.store.admin.execute("update tenants set name = $1", evil)
    await console.store.admin.execute("update identities set name = $1", evil)
    await console.credentials.save(ann, "acme", {"token": "s3cret"}, evil)
    assert console.memory is not None
    await console.memory(ann).remember(f"I am called {evil}.", "key")
    await console.store.admin.execute("update outbound set state = 'failed', text = $1, reason = $1", evil)
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
            ("disconnect", {"service": "acme", "account": evil}),
        ):
            assert await press(browser, own, f"{own}/{form}", fields) == 200, form
            assert "&lt;img" in browser.page, form
            assert "<img" not in browser.page, form
