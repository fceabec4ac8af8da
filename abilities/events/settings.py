"""The setting of events."""

from pydantic import Field
from pydantic_settings import BaseSettings


class EventSettings(BaseSettings):
    """How many days events are kept."""

    onevalet_events_kept_days: int = Field(default=30, ge=1, le=36_500)
