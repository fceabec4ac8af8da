"""The settings of retention: how many days each kind of data is kept."""

from pydantic import Field
from pydantic_settings import BaseSettings


class KeptSettings(BaseSettings):
    """The settings of lifetimes: how long each kind of data is kept.

    Files have theirs in `FileSettings`.
    """

    onevalet_messages_kept_days: int = Field(default=365, ge=31, le=36_500)
    onevalet_kept_days: int = Field(default=90, ge=1, le=36_500)
    """Days for journals, runs of tasks and notifications; for events, if it is fewer than 30."""
    onevalet_audit_kept_days: int = Field(default=730, ge=1, le=36_500)
