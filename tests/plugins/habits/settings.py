"""The setting of habits."""

from pydantic import Field
from pydantic_settings import BaseSettings


class HabitSettings(BaseSettings):
    """How many habits a person may have."""

    habits_most: int = Field(default=20, ge=1)
