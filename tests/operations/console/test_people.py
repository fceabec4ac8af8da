"""The pages about people: who is here, who asks to be let in, what they prefer and have connected."""

from core.clock import Clock
from core.inbox.inbox import Inbox
from core.people.access_policy import Access
from tests.core.harness import message
from tests.operations.console.browser import Browser
from tests.operations.console.harness import ANN, BOB, Console

CAROL = "+15550000003"


async def knock(console: Console, sender: str = CAROL) -> dict[str, str]:
    """Have a stranger write, who gets a code; return the fields of the form that lets them in."""
    inbox = Inbox(console.store.database, console.store.wakeups, console.store.make_id, Access())
    await inbox.accept(message("hello?", sender, f"SM_{sender}"))
    return {"channel": "sms", "account": "+15550009999", "user_key": sender, "role": "guest", "tier": ""}


async def press(browser: Browser, page: str, path: str, fields: dict[str, str]) -> int:
    """Send a form of a page, and open the page that follows."""
    await browser.get(page)
    status = await browser.post(path, {**fields, "proof": browser.proof})
    if status == 303:
        await browser.get(browser.location)
    return status


async def test_an_operator_lets_in_somebody_who_has_a_code(console: Console) -> None:
    stranger = await knock(console)
    async with console.browser(ANN) as browser:
        await browser.get("/console/people")
        assert "Waiting to be let in" in browser.text
        assert await press(browser, "/console/people", "/console/people/admit", stranger) == 303
        assert "They are in, and may write now." in browser.text
        assert "Waiting to be let in" not in browser.text
        assert await press(browser, "/console/people", "/console/people/admit", stranger) == 303
        assert "Nobody was let in" in browser.text
    carol = await console.tenant(CAROL)
    assert await console.store.db.tenants.one("role", tenant_id=carol) == "guest"
    assert await console.store.db.identities.one("admitted", user_key=CAROL) == "operator"
    assert await console.store.column("select what || ' ' || subject from console_actions") == [
        "admit sms +1•••••0003 as guest"
    ]


async def test_only_operators_let_people_in_or_change_roles(console: Console) -> None:
    stranger = await knock(console)
    bob = await console.tenant(BOB)
    async with console.browser(BOB) as browser:
        await browser.get("/console/people")
        assert browser.location == f"/console/people/{bob}"
        own = f"/console/people/{bob}"
        assert await press(browser, own, "/console/people/admit", stranger) == 404
        assert await press(browser, own, f"{own}/role", {"role": "owner", "tier": ""}) == 404
        address = {"do": "add", "channel": "push", "address": "topic"}
        assert await press(browser, own, f"{own}/address", address) == 404
    assert await console.store.db.tenants.one("role", tenant_id=bob) == "member"
    assert await console.store.db.console_actions.count() == 0


async def test_a_person_sees_and_changes_nobody_else(console: Console) -> None:
    ann, bob = await console.tenant(ANN), await console.tenant(BOB)
    theirs, own = f"/console/people/{ann}", f"/console/people/{bob}"
    async with console.browser(BOB) as browser:
        assert await browser.get(theirs) == 404
        assert await browser.get(f"{theirs}/memory") == 404
        for form, fields in (
            ("preferences", {"prefer.name": "Eve"}),
            ("link", {"code": "ABC-234-DEF"}),
            ("link/agree", {"code": "ABC-234-DEF"}),
            ("link/withdraw", {}),
            ("disconnect", {"service": "email", "account": "primary"}),
            ("disconnected", {"service": "email", "account": "primary"}),
            ("memory/forget", {"number": "1"}),
            ("memory/forgotten", {"line": "1. tea"}),
            ("memory/correct", {"number": "1", "text": "I like tea."}),
            ("memory/fact", {"number": "1"}),
        ):
            assert await press(browser, own, f"{theirs}/{form}", fields) == 404, form
    assert await console.store.db.console_actions.count() == 0


async def test_role_and_tier_are_changed_but_not_ones_own_ownership(console: Console) -> None:
    ann, bob = await console.tenant(ANN), await console.tenant(BOB)
    async with console.browser(ANN) as browser:
        page = f"/console/people/{bob}"
        assert await press(browser, page, f"{page}/role", {"role": "owner", "tier": "patron"}) == 303
        assert "The role and the tier are changed." in browser.text
        assert await press(browser, page, f"{page}/role", {"role": "king", "tier": ""}) == 422
        assert await press(browser, page, f"{page}/role", {"role": "guest", "tier": "none"}) == 422
        page = f"/console/people/{ann}"
        assert await press(browser, page, f"{page}/role", {"role": "guest", "tier": ""}) == 303
        assert "changed by another owner" in browser.text
    rows = await console.store.admin.fetch("select role, tier from tenants where tenant_id = any ($1)", [ann, bob])
    assert sorted(tuple(row) for row in rows) == [("owner", ""), ("owner", "patron")]


async def test_preferences_are_saved_and_refused_in_a_sentence(console: Console) -> None:
    bob = await console.tenant(BOB)
    page = f"/console/people/{bob}"
    async with console.browser(BOB) as browser:
        form = f"{page}/preferences"
        assert await press(browser, page, form, {"prefer.quiet": "22-7", "prefer.language": "Portuguese"}) == 303
        assert "Saved." in browser.text
        assert 'value="22:00-07:00"' in browser.page
        assert 'value="Portuguese"' in browser.page
        assert "data-refused" not in browser.page
        assert await press(browser, page, form, {"prefer.timezone": "Atlantis<script>", "prefer.name": "Eve"}) == 422
        assert "data-refused" in browser.page, "there is no page at the form's address that could be followed"
        assert "I know no such timezone" in browser.text
        assert 'value="Eve"' in browser.page, "what was typed stays"
        assert "<script>" not in browser.page
        assert await press(browser, page, form, {"prefer.language": "Portuguese", "prefer.none": "x"}) == 303
        assert await console.store.db.console_actions.column("subject", order="at") == ["language", "quiet"]
    assert await console.store.db.tenants.one("language", tenant_id=bob) == "pt"
    assert await console.store.one("select coalesce(name, '') from tenants where tenant_id = $1", bob) != "Eve"
    assert await console.store.db.tenants.one("quiet_from", tenant_id=bob) == "22:00"


async def test_a_connected_account_is_listed_and_disconnected(console: Console) -> None:
    bob = await console.tenant(BOB)
    page = f"/console/people/{bob}"
    await console.credentials.save(bob, "acme", {"token": "s3cret"})
    async with console.browser(BOB) as browser:
        await browser.get(page)
        assert "primary" in browser.text
        assert "s3cret" not in browser.page
        meant = {"service": "acme", "account": "primary"}
        assert await press(browser, page, f"{page}/disconnect", meant) == 200
        assert "Disconnect this account?" in browser.text
        assert await console.store.db.credentials.count() == 1
        assert await press(browser, page, f"{page}/disconnected", meant) == 303
        assert "The account is disconnected" in browser.text
        assert await press(browser, page, f"{page}/disconnected", meant) == 303
        assert "There is no such account any more." in browser.text
    assert await console.store.db.credentials.count() == 0


async def test_a_link_code_shows_who_typed_it_and_is_withdrawn(console: Console) -> None:
    bob = await console.tenant(BOB)
    await console.store.admin.execute(
        "insert into link_codes (tenant_id, code_hash, identity_id, turn_id, made_at, expires_at, asked_channel,"
        " asked_user_key) select $1, '\\x01', i.id, t.id, $2::timestamptz, $2::timestamptz + interval '10 minutes',"
        " 'telegram', '100200'"
        " from identities i, turns t where i.tenant_id = $1 and t.tenant_id = $1 limit 1",
        bob,
        Clock().now(),
    )
    async with console.browser(BOB) as browser:
        page = f"/console/people/{bob}"
        await browser.get(page)
        assert "It was typed by Telegram •••••200, where it has still to be agreed to." in browser.text
        assert await press(browser, page, f"{page}/link/withdraw", {}) == 303
        assert "The code links nothing any more." in browser.text
        assert "It was typed" not in browser.text
    assert await console.store.one("select expires_at <= $1 from link_codes", Clock().now())
