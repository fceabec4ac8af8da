"""The models for memory and for voice notes, in a terminal and by flags, with every wrong answer before."""

import asyncio
from pathlib import Path

import pytest

from tests.onevalet.init.terminal import Terminal, opened, run, saved
from tests.scripted_model import ScriptedModel, echo, error
from tests.scripted_transcription import ScriptedTranscription, fails, heard

pytestmark = pytest.mark.slow
KEY = "sk-good"
MODEL = f"ONEVALET_MODEL=openai/scripted\nONEVALET_MODEL_KEYS={KEY}\n"


async def test_both_are_tried_and_asked_for_again(tmp_path: Path) -> None:
    def play(terminal: Terminal, model: ScriptedModel) -> None:
        terminal.reply("Where will OneValet run?", "dev")
        terminal.reply("Model: openai/scripted is set. Change it? [y/N]", "")
        terminal.reply("Set up an embedding model? [y/N]", "y")
        terminal.reply("Embedding model [openai/text-embedding-3-small]: ", "nobody-embeds")
        terminal.see("litellm knows no provider of nobody-embeds; name one")
        model.embeddings = error(401)
        terminal.reply("Embedding model", "")
        terminal.see("Trying openai/text-embedding-3-small", "the provider refuses the key")
        model.embeddings = None
        terminal.reply("Embedding model", "")
        terminal.see("answers, with 1,536 dimensions.")
        terminal.reply("Model for voice notes [openai/whisper-1]: ", "")
        terminal.reply("Key (Enter keeps the present one): ", "sk-wrong")
        terminal.see("the key is refused", "correct ONEVALET_TRANSCRIPTION_KEY")
        terminal.reply("Model for voice notes", "")
        terminal.reply("Key (Enter keeps the present one): ", KEY)
        terminal.see("openai/whisper-1 answers.")
        for name in ("Telegram", "SMS", "Slack", "Email"):
            terminal.reply(f"Set up {name}?", "n")
        terminal.see("Saved to .env")
        assert terminal.end() == 0
        assert KEY not in terminal.shown

    (tmp_path / ".env").write_text(MODEL)
    async with ScriptedModel(echo) as model, ScriptedTranscription([fails(401), heard("")]) as listener:
        words = ("--set", f"ONEVALET_TRANSCRIPTION_URL={listener.url}")
        with opened(tmp_path, *words, settings={"OPENAI_API_BASE": model.url}) as terminal:
            await asyncio.to_thread(play, terminal, model)
        assert len(listener.calls) == 2
    values = saved(tmp_path)
    assert values["ONEVALET_EMBEDDING_MODEL"] == "openai/text-embedding-3-small"
    assert values["ONEVALET_TRANSCRIPTION_MODEL"] == "openai/whisper-1"
    assert values["ONEVALET_TRANSCRIPTION_KEY"] == KEY


async def test_flags_set_both_and_one_that_fails_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(MODEL)
    async with ScriptedModel(echo) as model, ScriptedTranscription([heard(""), fails(401)]) as listener:
        words = ["--set", "ONEVALET_EMBEDDING_MODEL=openai/text-embedding-3-small"]
        words += ["--set", "ONEVALET_TRANSCRIPTION_MODEL=openai/whisper-1"]
        words += ["--set", f"ONEVALET_TRANSCRIPTION_URL={listener.url}"]
        base = {"OPENAI_API_BASE": model.url}
        code, _, errors = await asyncio.to_thread(run, tmp_path, *words, settings=base)
        assert (code, errors) == (0, "")
        whole = saved(tmp_path)
        code, _, errors = await asyncio.to_thread(run, tmp_path, *words, settings=base)
    assert code == 2
    assert errors.startswith("ONEVALET_TRANSCRIPTION_MODEL: openai/whisper-1: the key is refused")
    assert saved(tmp_path) == whole
    assert whole["ONEVALET_TRANSCRIPTION_URL"] == listener.url
