"""The settings of programs that ask by a token."""

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings


class ClientSettings(BaseSettings):
    """The settings of programs' tokens: lifetime, and the longest wait for an answer."""

    onevalet_mcp_days: Annotated[int, Field(ge=0, le=3650)] = 90
    onevalet_mcp_wait: Annotated[float, Field(ge=0, le=300)] = 45.0
