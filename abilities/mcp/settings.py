"""The setting of MCP servers."""

from pathlib import Path

from pydantic_settings import BaseSettings

from onevalet.ability import OwnSettings


class McpSettings(BaseSettings):
    """The file that names the servers."""

    onevalet_mcp: Path | None = None


MCP = OwnSettings(McpSettings)
