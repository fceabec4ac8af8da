"""The settings of long answers."""

from pydantic import Field
from pydantic_settings import BaseSettings

from core.messaging.holding import FEW
from onevalet.ability import OwnSettings


class CostSettings(BaseSettings):
    """From how many segments on a person is asked before an answer is sent by SMS."""

    onevalet_sms_ask_segments: int = Field(default=12, ge=FEW, le=1000)


COST = OwnSettings(CostSettings)
