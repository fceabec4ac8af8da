"""The settings of MCP servers, and of programs that ask by a token."""

from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings


class ClientSettings(BaseSettings):
    """What others bring, and who asks."""

    onevalet_mcp: Path | None = None
    onevalet_mcp_days: Annotated[int, Field(ge=0, le=3650)] = 90
    onevalet_mcp_rate: Annotated[int, Field(ge=1, le=10_000)] = 60
    onevalet_mcp_wait: Annotated[float, Field(ge=0, le=300)] = 45.0
