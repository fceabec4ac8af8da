"""Mail in the person's own accounts: searched, read, sorted, drafted and sent."""

from agents.email.drafts import draft_email
from agents.email.reading import read_mail, save_mail_file, search_mail
from agents.email.sending import SendEmailAgent
from agents.email.sorting import SortMailAgent
from agents.email.undoing import take_back_sorting

__all__ = [
    "SendEmailAgent",
    "SortMailAgent",
    "draft_email",
    "read_mail",
    "save_mail_file",
    "search_mail",
    "take_back_sorting",
]
