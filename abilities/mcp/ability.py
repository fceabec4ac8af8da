"""The tools of MCP servers: the operator names the servers, and accepts the tools that the model is offered."""

from typing import TYPE_CHECKING

from onevalet.ability import Ability, Commands, Extra, calls, named

if TYPE_CHECKING:
    pass


ABILITY = Ability(
    name="mcp",
    extras=(Extra("mcp", "onevalet_mcp", "no tools of MCP servers are used"),),
    settings=named("abilities.mcp.settings:MCP"),
    sources=calls("abilities.mcp.opening:open_tools"),
    commands=(Commands("mcp", "Consent", named("abilities.mcp.cli:servers_app")),),
)
