"""Twilio's Messaging, emulated: the REST API, the statuses, the webhooks."""

from workbench.simulator.twilio.provider import TwilioSimulator

__all__ = ["TwilioSimulator"]
