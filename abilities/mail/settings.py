"""The settings of mailboxes that are watched for new mail."""

from pydantic import Field
from pydantic_settings import BaseSettings


class WatchSettings(BaseSettings):
    """The number of mailboxes that a worker watches, and the interval of looks if a server does not report news."""

    onevalet_mail_watches: int = Field(default=200, ge=0, le=10_000)
    onevalet_mail_poll: int = Field(default=120, ge=10, le=86_400)
