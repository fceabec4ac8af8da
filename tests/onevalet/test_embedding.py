"""OneValet inside a program, on real servers; the page about it is run by tests/documents."""

from pathlib import Path

import pytest

from onevalet import ConfigError, OneValet, StreamEventType
from onevalet.cli.notify import add_address as cli_add_address
from onevalet.settings import load_settings
from onevalet.testing import ScriptedModel, calls, text
from tests.documents.blocks import write_files
from tests.eventually import eventually
from tests.onevalet.pages import page_folder as page_folder


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("OPENAI_API_BASE", "")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.setenv("ONEVALET_HOME", str(tmp_path / "home"))


async def test_a_program_is_answered_by_its_own_tools_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedModel([calls(("count_words", {"words": "a b c"})), text("Three."), text("Again.")]) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        from onevalet import tool

        @tool(effect="read")
        async def count_words(words: str) -> str:
            """Count words."""
            return str(len(words.split()))

        settings = {"ONEVALET_MODEL": "openai/scripted", "ONEVALET_MEMORY": "off"}
        async with OneValet(settings, plugins=[count_words]) as valet:
            events = [event async for event in valet.stream_message("How many words: a b c", tenant="ann")]
            assert [event.text for event in events if event.type is StreamEventType.TOOL_RESULT] == ["3"]
            assert [event.type for event in events].count(StreamEventType.EXECUTION_END) == 1
            assert (events[-1].type, events[-1].text) == (StreamEventType.EXECUTION_END, "Three.")
            beside = await valet.handle_message("Once more", tenant="ann", conversation="other")
            assert beside.text == "Again."
            assert "How many words" not in str(model.calls[-1].messages)
            assert await valet.unread("ann") == []
            assert await valet.tenant_id("ann") != await valet.tenant_id("bob")


async def test_somebody_known_elsewhere_is_named_by_their_id(monkeypatch: pytest.MonkeyPatch) -> None:
    async with OneValet({"ONEVALET_MEMORY": "off"}) as valet:
        ann = await valet.tenant_id("ann")
        assert await valet.tenant_id(ann) == ann
        assert not await valet.notify(ann, "Nobody has written from there yet", urgency="urgent")
        with pytest.raises(ConfigError, match="No 9Z waits"):
            await valet.approvals.approve("ann", "9z")
        with pytest.raises(ConfigError, match="ONEVALET_MEMORY is off"):
            _ = valet.memory


async def test_a_channel_that_only_sends_is_given_an_address(
    page_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files("docs/plugins.md", page_folder)
    monkeypatch.setenv("LOGBOOK", str(page_folder))
    settings = {"ONEVALET_MEMORY": "off", "ONEVALET_CHANNELS": "logbook.channel"}

    def written(name: str) -> str:
        path = page_folder / f"{name}.txt"
        return path.read_text() if path.exists() else ""

    async with OneValet(settings, plugins=[]) as valet:
        ann = await valet.tenant_id("ann")
        assert not await valet.notify(ann, "Nowhere", urgency="urgent")
        await valet.add_address(ann, "logbook", "Ann's own")
        assert await valet.notify(ann, "The tea is ready.", urgency="urgent")
        await eventually(lambda: written("Ann's own") == "The tea is ready.\n", "what is logged")
        with pytest.raises(ConfigError, match="one line"):
            await valet.add_address(ann, "logbook", "two\nlines")
        with pytest.raises(ConfigError, match="push and email and logbook"):
            await valet.add_address(ann, "fax", "1")
        monkeypatch.setenv("ONEVALET_CHANNELS", "logbook.channel")
        await cli_add_address(load_settings(_env_file=None), ann, "logbook", "book 2")
        assert "Kept: logbook, one-way book 2." in capsys.readouterr().out


async def test_a_valet_that_is_not_entered_says_so() -> None:
    with pytest.raises(ConfigError, match="Enter it first"):
        await OneValet().handle_message("hi", tenant="ann")
