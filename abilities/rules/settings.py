"""The settings of rules."""

from pathlib import Path

from pydantic_settings import BaseSettings

from onevalet.ability import OwnSettings


class RuleSettings(BaseSettings):
    """The file of the operator's rules."""

    onevalet_rules: Path | None = None


RULES = OwnSettings(RuleSettings)
