"""People who are added while the simulator runs: reachable at every provider, kept over a restart and Reset."""

from pathlib import Path

import aiohttp
import pytest

from tests.workbench.simulator.conftest import FakeGateway
from tests.workbench.simulator.test_keeping import do, started
from workbench.simulator.config import SimulatorConfig
from workbench.simulator.people import MOST


@pytest.fixture
def config(tmp_path: Path, gateway: FakeGateway) -> SimulatorConfig:
    return SimulatorConfig(gateway_url=gateway.url, pace=0.01, kept_in=tmp_path / "kept")


async def add(http: aiohttp.ClientSession, name: object) -> tuple[int, dict[str, str]]:
    async with http.post("/sim/people", json={"name": name}) as answer:
        return answer.status, await answer.json()


async def test_somebody_new_writes_everywhere_and_outlives_restart_and_reset(
    config: SimulatorConfig, tmp_path: Path, gateway: FakeGateway
) -> None:
    async with started(config) as (_, http):
        status, zoe = await add(http, "  Zoë   Ångström ")
        assert (status, zoe["key"], zoe["name"]) == (200, "zoe", "Zoë Ångström")
        assert (await add(http, "Zoe Other"))[1]["key"] == "zoe4"
        for provider in ("twilio", "slack", "telegram"):
            await do(http, f"{provider}/say", person="zoe", text="Hello")
        async with http.post("/sim/reset", json={}) as answer:
            assert answer.status == 200
        await do(http, "slack/say", person="zoe", text="Once more")
    again = SimulatorConfig(gateway_url=gateway.url, pace=0.01, kept_in=tmp_path / "kept")
    async with started(again) as (simulator, http):
        assert [person.key for person in again.everyone] == ["ada", "grace", "zoe", "zoe4"]
        async with http.get("/sim/state") as answer:
            state = await answer.json()
        assert [one["text"] for one in state["slack"]["people"]["zoe"]["bubbles"]] == ["Once more"]
        ids = [(one.phone, one.slack_user, one.telegram_user) for one in again.everyone]
        assert len({value for row in ids for value in row}) == 3 * len(ids)
        assert simulator.roster.add("李雷").key == "person"


async def test_a_name_is_needed_once_and_the_room_has_an_end(config: SimulatorConfig) -> None:
    async with started(config) as (_, http):
        for name, told in (
            ("", "1 to 40"),
            ("x" * 41, "1 to 40"),
            (7, "1 to 40"),
            ("a\x00b", "1 to 40"),
            ("ada LOVELACE", "here"),
        ):
            status, answer = await add(http, name)
            assert status == 400
            assert told in answer["error"]
        for number in range(MOST - 2):
            assert (await add(http, f"Person {number}"))[0] == 200
        status, answer = await add(http, "One Too Many")
        assert status == 400
        assert f"{MOST} people" in answer["error"]
