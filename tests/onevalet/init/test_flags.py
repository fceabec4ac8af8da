"""`init` where nobody can be asked: by flags, with an error for whatever is missing or wrong."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.onevalet.init.providers_of_models import KEY, WRONG_KEY, model_providers
from tests.onevalet.init.terminal import run, saved

pytestmark = pytest.mark.slow


async def test_all_is_set_by_flags_and_what_it_is_for_is_proved(
    tmp_path: Path, database_url: str, redis_url: str
) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    words = ["--run", "own", "--preset", "openai", "--set", "ONEVALET_MODEL_KEYS=@key"]
    words += ["--set", f"DATABASE_URL={database_url}", "--set", f"REDIS_URL={redis_url}"]
    async with model_providers() as providers:
        settings = {"OPENAI_API_BASE": f"{providers.url}/v1"}
        code, out, errors = await in_thread(tmp_path, *words, settings=settings)
    assert (code, errors) == (0, "")
    assert "bin/onevalet migrate" in out
    assert KEY not in out
    values = saved(tmp_path)
    assert len(values.pop("ONEVALET_SECRET_KEYS")) == 44
    assert values == {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "ONEVALET_MODEL": "openai/gpt-5-mini",
        "ONEVALET_MODEL_KEYS": KEY,
    }


async def test_a_wrong_key_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    async with model_providers() as providers:
        code, _, errors = await in_thread(
            tmp_path,
            "--preset",
            "openai",
            "--set",
            f"ONEVALET_MODEL_KEYS={WRONG_KEY}",
            settings={"OPENAI_API_BASE": f"{providers.url}/v1"},
        )
    assert code == 2
    assert errors.startswith("ONEVALET_MODEL: openai/gpt-5-mini: the provider refuses the key")
    assert WRONG_KEY not in errors
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Nobody can be asked here"),
        (("--preset", "local"), "No model server was found on this machine"),
        (("--preset", "openai"), "ONEVALET_MODEL_KEYS is missing: add --set ONEVALET_MODEL_KEYS="),
        (("--preset", "chatgpt"), "preset: There is no 'chatgpt'"),
        (("--run", "moon"), "run: There is no 'moon': answer with a number from 1 to 3, or one of dev, compose, own"),
        (("--run", "own", "--set", "DATABASE_URL=mysql://x"), "DATABASE_URL: DATABASE_URL cannot be used: must be"),
        (("--run", "own", "--set", "DATABASE_URL=postgresql://127.0.0.1:9/x"), "DATABASE_URL: The database in DATA"),
        (("--set", "TELEGRAM_BOT_TOKEN=1"), "TELEGRAM_BOT_TOKEN: TELEGRAM_BOT_TOKEN cannot be used"),
        (("--set", "TELEGRAM"), "An answer has no name: write --set NAME=VALUE"),
        (("--set", "A=@nowhere"), "The file nowhere, which --set A names, cannot be read"),
        (("--preset", "demo", "--set", "NO_SUCH=1"), "Nothing asks for NO_SUCH"),
        (("--preset", "demo", "--file", "."), "The file . is a folder: name one in it, such as --file ./.env"),
    ],
)
def test_what_is_missing_or_wrong_is_a_sentence(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    code, _, errors = run(tmp_path, *words)
    assert code == 2
    assert errors.startswith(sentence)
    assert errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


async def in_thread(folder: Path, *words: str, settings: dict[str, str]) -> tuple[int, str, str]:
    """Run `init` while the loop serves what it calls."""
    return await asyncio.to_thread(run, folder, *words, settings=settings)
