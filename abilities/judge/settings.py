"""The settings of the judges."""

from typing import Literal

from pydantic_settings import BaseSettings

from onevalet.ability import OwnSettings


class JudgeSettings(BaseSettings):
    """Which judges rate turns."""

    onevalet_judge: Literal["off", "loops", "checks", "model"] = "checks"
    """`loops` finds calls in circles, `checks` claims without a call too, `model` asks a model besides."""


JUDGE = OwnSettings(JudgeSettings)
