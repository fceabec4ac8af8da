"""`mcp list`, `mcp accept` and `mcp withdraw`, as an operator types them."""

import json
from pathlib import Path
from typing import Any

import pytest

from abilities.mcp.accepting import accept, print_tools, withdraw
from abilities.mcp.settings import McpSettings
from onevalet.settings import Settings
from tests.servers.mcp import ROOT, ScriptedMcp

PLAIN = {"name": "light", "description": "Switch the light.", "schema": {"type": "object", "properties": {}}}


@pytest.fixture
def script(tmp_path: Path) -> ScriptedMcp:
    made = ScriptedMcp(tmp_path / "server.json")
    made.offers(PLAIN)
    return made


@pytest.fixture
def settings(tmp_path: Path, script: ScriptedMcp, database_url: str) -> Settings:
    path = tmp_path / "mcp.toml"
    command = json.dumps(list(script.command))
    path.write_text(f'[servers.home]\ncommand = {command}\nfolder = "{ROOT}"\ntimeout = 60\nallow = ["light", "tr*"]\n')
    return Settings(_env_file=None, database_url=database_url, onevalet_home=tmp_path, onevalet_mcp=path)


async def _listed(settings: Settings, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    await print_tools(settings, "", "", as_json=True)
    told = capsys.readouterr().out
    rows = json.loads(told[told.index("[\n") :])  # after what is logged
    return {row["tool"]: row for row in rows}


@pytest.mark.slow  # each of its commands starts the server
async def test_a_tool_is_new_then_accepted_then_changed(
    settings: Settings, script: ScriptedMcp, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (await _listed(settings, capsys))["light"]["state"] == "new"
    assert await accept(settings, "home", "", "", anyway=False)
    assert "Switch the light." in capsys.readouterr().out
    assert (await _listed(settings, capsys))["light"]["state"] == "accepted"
    script.offers({**PLAIN, "description": "Switch it.\u200b"}, {**PLAIN, "name": "other"})
    rows = await _listed(settings, capsys)
    assert (rows["light"]["state"], rows["other"]["state"]) == ("changed", "not offered")
    assert not await accept(settings, "home", "", "", anyway=False), "hidden characters are not accepted by the way"
    shown = capsys.readouterr().out
    assert "Before: Switch the light." in shown
    assert "\\u200b" in shown
    assert (await _listed(settings, capsys))["light"]["state"] == "changed"
    assert await accept(settings, "home", "", "", anyway=True)
    assert (await _listed(settings, capsys))["light"]["state"] == "accepted"
    await withdraw(settings, "home", "light")
    assert (await _listed(settings, capsys))["light"]["state"] == "new"


@pytest.mark.whole("it starts a server")
async def test_a_server_that_does_not_start_is_named_and_the_others_listed(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    path = settings.of(McpSettings).onevalet_mcp
    assert path is not None
    with path.open("a") as file:
        file.write('\n[servers.gone]\ncommand = ["no-such-program-here"]\n')
    await print_tools(settings, "", "", as_json=False)
    told = capsys.readouterr().out
    assert "home  light  new  with approval" in told
    assert "gone: gone: FileNotFoundError." in told or "gone: gone: gone: FileNotFoundError." in told
