"""The settings of rules."""

from pathlib import Path

from pydantic_settings import BaseSettings


class RuleSettings(BaseSettings):
    """The file of the operator's rules."""

    onevalet_rules: Path | None = None
