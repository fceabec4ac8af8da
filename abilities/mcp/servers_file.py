"""Parse the MCP servers from a TOML file when the process starts, with errors for the author of the file."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from abilities.mcp.types import McpServer
from core.credentials.needs import read_need
from core.errors import ConfigError
from core.http.address_guard import Barred, read_target
from core.tools.toml_file import read_toml

_FROM_ENVIRONMENT = "env:"
"""The prefix of a value that is a variable's name, so that secrets need not be in the file."""


def read_servers(path: Path, environment: Mapping[str, str] = os.environ) -> Sequence[McpServer]:
    """Return the servers of a file. Raises `ConfigError`, naming the file and the server in a sentence."""
    data = read_toml(path, "ONEVALET_MCP")
    try:
        read = _File.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: {where}: {first['msg'].removeprefix('Value error, ')}.") from error
    return [_server(path, name, server, environment) for name, server in read.servers.items()]


def _web_address(url: str) -> str:
    try:
        if url:
            read_target(url)
    except Barred as error:
        raise ValueError(f"is no web address: {error}") from error
    return url


def _need(text: str | None) -> str | None:
    if text is not None:
        try:
            service, _ = read_need(text)
        except ValueError as error:
            raise ValueError("names no service; write one and a scope, such as linear:mcp") from error
        if not service:
            raise ValueError("names no service; write one and a scope, such as linear:mcp")
    return text


class _Server(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    folder: str | None = None
    url: Annotated[str, AfterValidator(_web_address)] = ""
    headers: dict[str, str] = Field(default_factory=dict)
    account: Annotated[str | None, AfterValidator(_need)] = None
    allow: tuple[str, ...] = ("*",)
    read_only: tuple[str, ...] = ()
    high_risk: tuple[str, ...] = ()
    resources: bool = False
    timeout: float = Field(default=30.0, ge=1, le=300)

    @model_validator(mode="after")
    def _one_way(self) -> "_Server":
        if bool(self.command) == bool(self.url):
            raise ValueError("needs a command or a url, and not both")
        if self.command and (self.headers or self.account):
            raise ValueError("headers and account are for a url; give a command its env")
        if self.url and (self.env or self.folder):
            raise ValueError("env and folder are for a command")
        return self


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    servers: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,19}$")], _Server] = Field(default_factory=dict)


def _server(path: Path, name: str, read: _Server, environment: Mapping[str, str]) -> McpServer:
    def filled(values: Mapping[str, str]) -> dict[str, str]:
        return {key: _value(path, name, value, environment) for key, value in values.items()}

    fields = {field: getattr(read, field) for field in type(read).model_fields}
    return McpServer(name, **fields | {"env": filled(read.env), "headers": filled(read.headers)})


def _value(path: Path, server: str, text: str, environment: Mapping[str, str]) -> str:
    """Return a value of the file, with variables of the environment put in: alone, or after a word (Bearer env:X)."""
    before, found, variable = text.partition(_FROM_ENVIRONMENT)
    if not found or (before and not before.endswith(" ")):
        return text
    if variable not in environment:
        raise ConfigError(f"{path}: the server {server} wants the variable {variable}, which is not set.")
    return before + environment[variable]
