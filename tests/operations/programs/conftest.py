"""The settings of a process that programs reach."""

import base64
from pathlib import Path

import pytest

from onevalet.settings import Settings, load_settings


@pytest.fixture
def settings(database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("ONEVALET_SECRET_KEYS", base64.b64encode(b"k" * 32).decode())
    monkeypatch.setenv("ONEVALET_MEMORY", "on")
    monkeypatch.setenv("PORT", "0")
    return load_settings()
