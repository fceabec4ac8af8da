"""A briefing in a message: weather, calendar, unread mail, reminders and waiting entries, read without a model."""

from abilities.briefing.planning import SetBriefing, take_back_briefing
from abilities.briefing.sending import BriefingExecutor, brief_me

__all__ = ["BriefingExecutor", "SetBriefing", "brief_me", "take_back_briefing"]
