"""The group of its tools, and the words that open it."""

from onevalet import ToolGroup, gettext_noop

GROUP = ToolGroup("mail", gettext_noop("email, emails, e-mail, e-mails, mail, mails, inbox"))
