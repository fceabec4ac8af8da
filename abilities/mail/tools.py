"""Mail in the person's own accounts: searched, read, sorted, drafted and sent."""

from abilities.mail.drafts import draft_email
from abilities.mail.reading import read_mail, save_mail_file, search_mail
from abilities.mail.sending import SendEmailAgent
from abilities.mail.sorting import SortMailAgent
from abilities.mail.undoing import take_back_sorting

__all__ = [
    "SendEmailAgent",
    "SortMailAgent",
    "draft_email",
    "read_mail",
    "save_mail_file",
    "search_mail",
    "take_back_sorting",
]
