"""The group of its tools, and the words that open it."""

from onevalet import ToolGroup, gettext_noop

GROUP = ToolGroup("contacts", gettext_noop("contact, contacts, address book"))
