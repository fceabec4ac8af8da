"""The group of its tools, and the words that open it."""

from onevalet import ToolGroup, gettext_noop

GROUP = ToolGroup("briefing", gettext_noop("briefing, brief me"))
