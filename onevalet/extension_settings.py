"""The settings of what others bring: MCP servers and skills."""

from pathlib import Path

from pydantic_settings import BaseSettings


class ExtensionSettings(BaseSettings):
    """Where the operator says what the assistant may use besides its own tools."""

    onevalet_mcp: Path | None = None
    onevalet_skills: Path | None = None
