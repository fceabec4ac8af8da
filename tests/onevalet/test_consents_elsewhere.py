"""Consents in advance beside the chat: read and ended on the console and by the operator's command."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.consents.types import Agreed
from core.errors import ConfigError
from core.json_types import JsonObject
from onevalet.cli.approvals import print_consents, withdraw
from onevalet.settings import Settings
from tests.core.harness import Store
from tests.operations.console.conftest import console as console
from tests.operations.console.harness import ANN, BOB, Console
from tests.operations.console.test_people import press


async def agree(store: Store, tenant: str, number: int = 1, name: str = "post_update") -> None:
    """Store what a person has agreed to in advance."""
    now = datetime.now(UTC)
    bounds: JsonObject = {"room": {"is": "#team"}, "text": {"text": 40}}
    agreed = Agreed(tenant, name, "v", bounds, 5, now + timedelta(days=7), "at once")
    await store.admin.execute(
        "insert into standing_consents (tenant_id, id, number, turn_id, approval_id, name, sealed, hash, told,"
        " max_uses, expires_at, created_at) values ($1, $2, $3, 't', 'a', $4, $5, $6, 'at once', 5, $7, $8)",
        tenant,
        f"cns_{tenant}_{number}",
        number,
        name,
        agreed.sealed,
        agreed.hash,
        agreed.expires_at,
        now,
    )


async def standing(store: Store, tenant: str) -> list[object]:
    return await store.column(
        "select state || ' ' || reason from standing_consents where tenant_id = $1 order by number", tenant
    )


async def told(store: Store, tenant: str) -> list[object]:
    return await store.db.notifications.column("text", order="id", tenant_id=tenant)


async def test_a_person_ends_their_own_consent_on_the_console(console: Console) -> None:
    bob, ann = await console.tenant(BOB), await console.tenant(ANN)
    await agree(console.store, bob)
    await agree(console.store, ann)
    page = f"/console/people/{bob}"
    async with console.browser(BOB) as browser:
        await browser.get(page)
        for shown in ("Done without asking", "post update", "#team", "used 0 of 5"):
            assert shown in browser.text, browser.text
        assert await press(browser, page, f"/console/people/{ann}/withdraw", {"number": "1"}) == 404
        assert await press(browser, page, f"{page}/withdraw", {"number": "1"}) == 303
        assert "Ended. The person is asked from now on." in browser.text
        assert await press(browser, page, f"{page}/withdraw", {"number": "1"}) == 303
        assert "no such consent" in browser.text
    assert await standing(console.store, bob) == ["ended withdrawn"]
    assert await standing(console.store, ann) == ["active "]
    assert await told(console.store, bob) == [], "who ends their own is told by the page"


async def test_a_person_is_told_in_their_language_that_an_operator_ended_one(console: Console) -> None:
    bob = await console.tenant(BOB)
    await agree(console.store, bob)
    await console.store.db.tenants.change({"language": "de"}, tenant_id=bob)
    page = f"/console/people/{bob}"
    async with console.browser(ANN) as browser:
        assert await press(browser, page, f"{page}/withdraw", {"number": "1"}) == 303
    assert await standing(console.store, bob) == ["ended withdrawn"]
    [text] = await told(console.store, bob)
    assert "1" in str(text)
    assert "From now on" not in str(text)
    assert "withdraw 1" in await console.store.column("select what || ' ' || subject from console_actions")


async def test_the_operators_command_lists_and_ends(
    console: Console, database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bob = await console.tenant(BOB)
    settings = Settings(_env_file=None, database_url=SecretStr(database_url), onevalet_home=tmp_path)
    await print_consents(settings, bob, as_json=False)
    assert "There are no consents." in capsys.readouterr().out
    await agree(console.store, bob)
    await print_consents(settings, bob, as_json=False)
    line = capsys.readouterr().out
    assert line.startswith("1    ")
    for shown in ("post update", "#team", "used 0 of 5, until "):
        assert shown in line
    await print_consents(settings, bob, as_json=True)
    [read] = json.loads(capsys.readouterr().out)
    assert (read["number"], read["tool"], read["state"], read["told"]) == (1, "post_update", "active", "at once")
    await withdraw(settings, 1, bob)
    assert f"Ended consent 1 of {bob}." in capsys.readouterr().out
    assert await standing(console.store, bob) == ["ended withdrawn"]
    [text] = await told(console.store, bob)
    assert "was ended by whoever runs me" in str(text)
    with pytest.raises(ConfigError, match="no active consent 1"):
        await withdraw(settings, 1, bob)
    with pytest.raises(ConfigError):
        await withdraw(settings, 1, "tn_nobody")
    await print_consents(settings, bob, as_json=False)
    assert "ended: withdrawn" in capsys.readouterr().out
