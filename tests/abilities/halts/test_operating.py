"""A halt as operators begin, see and lift it: commands, `doctor`, `/readyz`, metrics, and the console in red."""

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from abilities.halts.operating import halt, lift
from abilities.halts.probes import check_halt
from core.messaging.stalls import read_stalls
from onevalet.settings import Settings
from operations.metrics.backlog import Backlog
from tests.core.harness import Store, opened
from tests.operations.console.harness import ANN, BOB, open_console

BANNER = "All work is halted: no turn, task or delivery goes on"


async def test_the_commands_halt_and_lift_without_a_code_and_may_be_repeated(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(_env_file=None, database_url=SecretStr(database_url), onevalet_home=tmp_path)
    async with opened(database_url) as store:
        await lift(settings)
        assert capsys.readouterr().out == "Nothing was halted.\n"
        await halt(settings)
        code = await store.db.halts.one("code")
        assert f"LIFT {code} in an owner's chat" in capsys.readouterr().out
        await halt(settings, as_json=True)
        assert json.loads(capsys.readouterr().out)["code"] == code
        assert await store.db.halts.column("how") == ["the command line"]
        await lift(settings)
        assert capsys.readouterr().out == "Work goes on.\n"
        assert not await store.one("select is_halted()")
        await lift(settings, as_json=True)
        assert json.loads(capsys.readouterr().out) == {"halted": False, "lifted": False}


async def test_doctor_readiness_and_metrics_tell_of_a_halt(store: Store) -> None:
    assert await check_halt(store.database) == []
    assert "onevalet_halted 0.0" in (await Backlog(store.database).text()).decode()
    await store.admin.execute("select begin_halt('a test')")
    [check] = await check_halt(store.database)
    assert (check.ok, "by a test" in check.detail) == (False, True)
    assert f"LIFT {await store.db.halts.one('code')}" in check.fix
    assert "all work is halted, until an owner lifts it" in await read_stalls(store.database)
    assert "onevalet_halted 1.0" in (await Backlog(store.database).text()).decode()


@pytest.mark.parametrize(("person", "operates"), [(ANN, True), (BOB, False)], ids=["owner", "member"])
async def test_every_page_of_the_console_tells_of_a_halt_in_red(store: Store, person: str, operates: bool) -> None:
    async with open_console(store) as console, console.browser(person) as browser:
        await browser.get("/console/conversations")
        assert BANNER not in browser.text
        await store.admin.execute("select begin_halt('a test')")
        for page in ("conversations", "waiting", "deliveries"):
            await browser.get(f"/console/{page}")
            assert BANNER in browser.text
            assert ("bin/onevalet doctor says how it is lifted" in browser.text) is operates
        if operates:
            await browser.get("/console/health")
            assert "needs attention halted all work, by an owner" in browser.text
