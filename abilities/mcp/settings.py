"""The setting of MCP servers."""

from pathlib import Path

from pydantic_settings import BaseSettings


class McpSettings(BaseSettings):
    """The file that names the servers."""

    onevalet_mcp: Path | None = None
