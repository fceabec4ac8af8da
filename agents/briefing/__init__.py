"""A briefing in one message: weather, calendar, unread mail, reminders and what waits, read without a model."""

from agents.briefing.planning import SetBriefing, take_back_briefing
from agents.briefing.sending import BriefingExecutor, brief_me

__all__ = ["BriefingExecutor", "SetBriefing", "brief_me", "take_back_briefing"]
