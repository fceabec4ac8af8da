"""The group of its tools, and the words that open it."""

from onevalet import ToolGroup, gettext_noop

GROUP = ToolGroup("tasks", gettext_noop("every, daily, weekly, monthly, hourly, task, tasks, reminder, reminders"))
