"""The models for memory and for voice notes, in a terminal and by flags, with every wrong answer before."""

import asyncio
from pathlib import Path

import pytest

from tests.onevalet.init.terminal import Terminal, opened, run, saved
from tests.scripted_model import ScriptedModel, echo, error
from tests.scripted_transcription import ScriptedTranscription, fails, heard

pytestmark = pytest.mark.slow
KEY, GROQ_KEY = "sk-good", "sk-heard"
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
        terminal.reply("Set up a model for voice notes? [y/N]", "y")
        terminal.reply("Model for voice notes [openai/whisper-1]: ", "groq/whisper-large-v3-turbo")
        terminal.reply("Key (GROQ_API_KEY): ", "sk-wrong")
        terminal.see("the key is refused", "or the provider's own variable")
        terminal.reply("Model for voice notes", "")
        terminal.reply("Key (GROQ_API_KEY): ", GROQ_KEY)
        terminal.see("groq/whisper-large-v3-turbo answers.")
        for name in ("Telegram", "SMS", "Slack", "Email"):
            terminal.reply(f"Set up {name}?", "n")
        terminal.see("Saved to .env")
        assert terminal.end() == 0
        assert GROQ_KEY not in terminal.shown

    (tmp_path / ".env").write_text(MODEL)
    async with ScriptedModel(echo) as model, ScriptedTranscription([fails(401), heard("")]) as listener:
        bases = {"OPENAI_API_BASE": model.url, "GROQ_API_BASE": listener.url}
        with opened(tmp_path, settings=bases) as terminal:
            await asyncio.to_thread(play, terminal, model)
        assert [call.key for call in listener.calls] == ["sk-wrong", GROQ_KEY]
    values = saved(tmp_path)
    assert values["ONEVALET_EMBEDDING_MODEL"] == "openai/text-embedding-3-small"
    assert values["ONEVALET_TRANSCRIPTION_MODEL"] == "groq/whisper-large-v3-turbo"
    assert values["GROQ_API_KEY"] == GROQ_KEY


async def test_flags_set_both_and_one_that_fails_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(MODEL)
    async with ScriptedModel(echo) as model, ScriptedTranscription([heard(""), fails(401)]) as listener:
        words = ["--set", "ONEVALET_EMBEDDING_MODEL=openai/text-embedding-3-small"]
        words += ["--set", "ONEVALET_TRANSCRIPTION_MODEL=openai/whisper-1"]
        words += ["--set", f"ONEVALET_TRANSCRIPTION_URL={(url := listener.url.replace('://', '://:sk-own@'))}"]
        base = {"OPENAI_API_BASE": model.url}
        code, _, errors = await asyncio.to_thread(run, tmp_path, *words, settings=base)
        assert (code, errors) == (0, "")
        whole = saved(tmp_path)
        code, _, errors = await asyncio.to_thread(run, tmp_path, *words, settings=base)
    assert code == 2
    assert errors.startswith("ONEVALET_TRANSCRIPTION_MODEL: openai/whisper-1: the key is refused")
    assert saved(tmp_path) == whole
    assert whole["ONEVALET_TRANSCRIPTION_URL"] == url
    assert [call.key for call in listener.calls] == ["sk-own"] * 2
