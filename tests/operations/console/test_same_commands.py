"""What an operator does in the console leaves the same rows as the command line, and a record of who did it."""

from pathlib import Path

from core.people.access_policy import PersonRole
from onevalet.cli.deliveries import settle
from onevalet.cli.notify import add_address, delete_address
from onevalet.cli.pair import pair
from onevalet.settings import Settings
from tests.operations.console.browser import Browser
from tests.operations.console.harness import ANN, BOB, Console
from tests.operations.console.test_deliveries import SETTLE, fail
from tests.operations.console.test_people import CAROL, knock, press

DAVE = "+15550000004"


async def rows(console: Console, statement: str, *args: object) -> list[tuple[object, ...]]:
    return [tuple(row) for row in await console.store.admin.fetch(statement, *args)]


async def test_the_console_does_what_the_command_line_does(console: Console, database_url: str, tmp_path: Path) -> None:
    settings = Settings(_env_file=None, database_url=database_url, onevalet_home=tmp_path)
    async with console.browser(ANN) as browser:
        for do in ("resend", "drop"):
            by_page, by_command = [await fail(console, f"{do} {way}", BOB) for way in ("page", "command")]
            assert await press(browser, "/console/deliveries", SETTLE, {**by_page, "do": do}) == 303
            await settle(settings, by_command["message"], resend=do == "resend")
            left = "select state, resolution, told_missing_by = id from outbound where id = $1"
            assert await rows(console, left, by_page["message"]) == await rows(console, left, by_command["message"])
        again = await rows(console, "select kind, state, seq > 0, regardless from outbound where resends <> ''")
        assert len(again) == 2
        assert again[0] == again[1]
        await _lets_in(console, browser, settings)
        await _gives_an_address(console, browser, settings)
    done = await rows(
        console, "select viewer = $1, what from console_actions order by at, id", await console.tenant(ANN)
    )
    assert done == [
        (True, "resend"),
        (False, "resend"),
        (True, "drop"),
        (False, "drop"),
        (True, "admit"),
        (True, "role"),
        (True, "address"),
        (True, "no address"),
    ]
    assert await console.store.column("select distinct viewer from console_actions where viewer not like 'tn%'") == [
        "operator"
    ]


async def _lets_in(console: Console, browser: Browser, settings: Settings) -> None:
    """Let one stranger in by the page and one by the command, and change the roles of both."""
    page = "/console/people"
    assert await press(browser, page, f"{page}/admit", {**await knock(console, CAROL), "role": "guest"}) == 303
    await knock(console, DAVE)
    assert await pair(settings, "", PersonRole.GUEST, address=f"sms:{DAVE}")
    carol = await console.tenant(CAROL)
    assert await press(browser, page, f"{page}/{carol}/role", {"role": "member", "tier": ""}) == 303
    assert await pair(settings, "", PersonRole.MEMBER, address=f"sms:{DAVE}")
    left = (
        "select t.role, t.tier, i.admitted, i.account, p.used_at is null from tenants t"
        " join identities i on i.tenant_id = t.tenant_id left join pairings p on p.user_key = i.user_key"
        " where i.user_key = $1"
    )
    assert await rows(console, left, CAROL) == await rows(console, left, DAVE)


async def _gives_an_address(console: Console, browser: Browser, settings: Settings) -> None:
    bob, left = (
        await console.tenant(BOB),
        "select channel, account, user_key, admitted from identities where channel = 'push'",
    )
    page, fields = f"/console/people/{bob}", {"channel": "push", "address": "bobs-topic"}
    assert await press(browser, page, f"{page}/address", {**fields, "do": "add"}) == 303
    by_page = await rows(console, left)
    assert await press(browser, page, f"{page}/address", {**fields, "do": "delete"}) == 303
    assert await rows(console, left) == []
    await add_address(settings, bob, "push", "bobs-topic")
    assert await rows(console, left) == by_page
    await delete_address(settings, bob, "push", "bobs-topic")
