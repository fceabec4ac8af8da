"""The settings of programs that ask by a token."""

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings


class ClientSettings(BaseSettings):
    """How long a token is good, how often its program may ask, and how long it waits."""

    onevalet_mcp_days: Annotated[int, Field(ge=0, le=3650)] = 90
    onevalet_mcp_rate: Annotated[int, Field(ge=1, le=10_000)] = 60
    onevalet_mcp_wait: Annotated[float, Field(ge=0, le=300)] = 45.0
