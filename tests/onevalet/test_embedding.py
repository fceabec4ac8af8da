"""OneValet inside a program: the page about it, on real servers."""

from pathlib import Path

import pytest

from onevalet import ConfigError, OneValet, StreamEventType
from onevalet.testing import ScriptedModel, calls, text
from tests.onevalet.pages import page_folder as page_folder
from tests.onevalet.pages import run_tests, write_blocks


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("OPENAI_API_BASE", "")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.setenv("ONEVALET_HOME", str(tmp_path / "home"))


async def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    run = await run_tests(write_blocks("docs/embedding.md", tmp_path))
    assert run == [
        "test_a_program_talks_with_its_assistant",
        "test_an_orchestrator_stands_alone",
        "test_a_loop_tells_how_it_ended",
        "test_a_turn_may_begin_without_words_of_the_person",
        "test_models_have_layers",
        "test_a_database_that_is_away_is_told_apart",
        "test_parts_stand_alone",
    ]


async def test_the_code_of_the_page_about_context_runs(page_folder: Path) -> None:
    run = await run_tests(write_blocks("docs/context.md", page_folder))
    assert run == [
        "test_a_tool_uses_the_persons_services",
        "test_nobody_is_told_in_a_rehearsal",
        "test_a_warning_is_read_and_sent_as_a_file",
        "test_the_gardener_is_written_to",
    ]


async def test_the_code_of_the_page_about_tasks_runs(page_folder: Path) -> None:
    run = await run_tests(write_blocks("docs/triggers.md", page_folder))
    assert run == ["test_a_bed_is_watered_when_it_is_dry"]


async def test_the_code_of_the_page_about_tests_runs(page_folder: Path) -> None:
    run = await run_tests(write_blocks("docs/testing.md", page_folder))
    assert run == ["test_the_model_answers_what_the_test_says"]


async def test_a_program_is_answered_by_its_own_tools_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedModel([calls(("count_words", {"words": "a b c"})), text("Three."), text("Again.")]) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        from onevalet import tool

        @tool(effect="read")
        async def count_words(words: str) -> str:
            """Count words."""
            return str(len(words.split()))

        settings = {"ONEVALET_MODEL": "openai/scripted", "ONEVALET_MEMORY": "off", "ONEVALET_PROFILE": "off"}
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


async def test_a_valet_that_is_not_entered_says_so() -> None:
    with pytest.raises(ConfigError, match="Enter it first"):
        await OneValet().handle_message("hi", tenant="ann")
