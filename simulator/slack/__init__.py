"""Slack, emulated: Web API, Events API, interactions, slash commands and Socket Mode."""

from simulator.slack.simulator import SlackSimulator

__all__ = ["SlackSimulator"]
