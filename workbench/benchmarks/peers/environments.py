"""Environments of their own for the peers, made once in a cache folder: never a dependency of the project."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGES = {
    "agno": ("agno==3.1.10", "openai==3.54.0"),
    "openai-agents": ("openai-agents==0.24.0",),
    "langgraph": ("langgraph==1.2.22", "langchain==1.4.7", "langchain-openai==1.7.3"),
    "pydantic-ai": ("pydantic-ai-slim[openai]==2.68.0",),
    "litellm": ("litellm==1.106.2", "mcp==2.3.0"),
    "slack-bolt": ("slack-bolt==1.30.0", "aiohttp==3.14.5"),
    "python-telegram-bot": ("python-telegram-bot==22.8", "aiohttp==3.14.5"),
    "aiogram": ("aiogram==3.31.0",),
    "taskiq": ("taskiq==0.13.0", "taskiq-redis==1.2.4"),
    "arq": ("arq==0.28.0",),
}
_LOOP = "uvloop==0.23.0"
"""Most of them say that it is to be used."""
FOLDER = Path(os.environ.get("ONEVALET_PEERS") or Path.home() / ".cache" / "onevalet-peers")


def make(folder: Path = FOLDER) -> dict[str, Path]:
    """Create missing environments; return the interpreter of each peer."""
    return {name: _made(folder / name, packages) for name, packages in PACKAGES.items()}


def _made(folder: Path, packages: tuple[str, ...]) -> Path:
    python, done = folder / "bin" / "python", folder / "done"
    wanted = "\n".join((*packages, _LOOP))
    if not done.exists() or done.read_text() != wanted:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        subprocess.run(["uv", "venv", "--quiet", "--clear", "--python", version, str(folder)], check=True)  # noqa: S603, S607
        # The configuration of this project would refuse packages that are newer than its own.
        subprocess.run(  # noqa: S603
            ["uv", "pip", "install", "--no-config", "--quiet", "--python", str(python), *packages, _LOOP],  # noqa: S607
            check=True,
        )
        done.write_text(wanted)
    return python
