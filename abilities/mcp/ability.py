"""The tools of MCP servers: the operator names the servers, and accepts the tools that the model is offered."""

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from onevalet.ability import Ability, Commands, Extra, OwnSettings, Sources
from onevalet.foundations import Foundation

if TYPE_CHECKING:
    from typer import Typer


def _settings() -> OwnSettings[Any]:
    from abilities.mcp.settings import McpSettings

    return OwnSettings(McpSettings)


def _sources(foundation: Foundation) -> AbstractAsyncContextManager[Sources]:
    from abilities.mcp.opening import open_tools

    return open_tools(foundation)


def _commands() -> "Typer":
    from abilities.mcp.cli import servers_app

    return servers_app


ABILITY = Ability(
    name="mcp",
    extras=(Extra("mcp", "onevalet_mcp", "no tools of MCP servers are used"),),
    settings=_settings,
    sources=_sources,
    commands=(Commands("mcp", "Consent", _commands),),
)
