"""The settings of the judges."""

from typing import Literal

from pydantic_settings import BaseSettings


class JudgeSettings(BaseSettings):
    """Which judges rate turns."""

    onevalet_judge: Literal["off", "checks", "model"] = "checks"
