"""The setting of tasks."""

from pydantic import Field
from pydantic_settings import BaseSettings


class TaskSettings(BaseSettings):
    """How many days runs are kept once they are over, and tasks that have ended."""

    onevalet_runs_kept_days: int = Field(default=90, ge=1, le=36_500)
