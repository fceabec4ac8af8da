"""Slack, emulated: Web API, Events API, interactions, slash commands and Socket Mode."""

from workbench.simulator.slack.provider import SlackSimulator

__all__ = ["SlackSimulator"]
