"""Endpoints as operators see them: commands, `doctor`, and the console, where people see only what is about them."""

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from abilities.webhooks.endpoints import Endpoints, EventKind
from abilities.webhooks.operating import add, change, delete, print_endpoints, print_secret, rotate
from abilities.webhooks.probes import check_endpoints
from core.errors import ConfigError
from onevalet.settings import Settings
from tests.abilities.webhooks.harness import open_webhooks
from tests.core.credentials.harness import new_key_text
from tests.core.harness import Store, opened
from tests.operations.console.harness import ANN, BOB, open_console


async def test_the_commands_subscribe_rotate_and_end(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(
        _env_file=None,
        database_url=SecretStr(database_url),
        onevalet_home=tmp_path,
        onevalet_secret_keys=(SecretStr(new_key_text()),),
        onevalet_fetch_hosts=("127.0.0.1:9999",),
    )
    url = "http://127.0.0.1:9999/hook"
    async with opened(database_url) as store:
        await print_endpoints(settings, as_json=False)
        assert "Nobody is told of events" in capsys.readouterr().out
        await add(settings, url, ["turn.done"])
        made = capsys.readouterr().out
        [endpoint] = await Endpoints(store.database, store.make_id).all()
        assert (endpoint.url, endpoint.kinds) == (url, (EventKind.TURN_DONE,))
        await print_secret(settings, endpoint.id)
        secret = capsys.readouterr().out.strip()
        assert secret.startswith("whsec_")
        assert secret in made
        await rotate(settings, endpoint.id)
        rotated = capsys.readouterr().out
        assert "whsec_" in rotated
        assert secret not in rotated
        await change(settings, endpoint.id, active=False)
        capsys.readouterr()
        await print_endpoints(settings, as_json=True)
        [listed] = json.loads(capsys.readouterr().out)
        assert (listed["active"], listed["reason"], listed["waiting"]) == (False, "by the operator", 0)
        await delete(settings, endpoint.id)
        with pytest.raises(ConfigError, match="no endpoint"):
            await print_secret(settings, endpoint.id)
        for wrong in ("ftp://example.org/", "http://10.0.0.1/hook", "not an address"):
            with pytest.raises(ConfigError, match="cannot be called"):
                await add(settings, wrong, [])
        with pytest.raises(ConfigError, match=r"no kind 'turn\.over'"):
            await add(settings, url, ["turn.over"])


async def test_doctor_shows_endpoints_that_fail_or_are_disabled(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        assert await check_endpoints(store.database) == []
        await store.admin.execute("update webhook_endpoints set failures = 5")
        [check] = await check_endpoints(store.database)
        assert "5 calls failed in a row" in check.detail
        await webhooks.endpoints.change(webhooks.endpoint, active=False)
        [check] = await check_endpoints(store.database)
        assert (check.ok, check.detail) == (False, "disabled: by the operator")
        assert f"webhooks enable {webhooks.endpoint.id}" in check.fix


async def test_operators_see_all_that_was_told_and_people_what_is_about_them(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks, open_console(store) as console:
        webhooks.receiver.answers.append(500)
        await webhooks.send()
        ids = {
            person: await store.column(
                "select id from webhook_messages where tenant_id = $1", await console.tenant(person)
            )
            for person in (ANN, BOB)
        }
        async with console.browser(ANN) as browser:
            await browser.get("/console/webhooks")
            assert webhooks.endpoint.id in browser.text
            assert all(str(one) in browser.text for one in (*ids[ANN], *ids[BOB]))
            assert "last answered 500" in browser.text
        async with console.browser(BOB) as browser:
            await browser.get("/console/webhooks")
            assert webhooks.endpoint.id not in browser.text
            assert not any(str(one) in browser.text for one in ids[ANN])
            assert all(str(one) in browser.text for one in ids[BOB])
            assert "/hook" not in browser.text
