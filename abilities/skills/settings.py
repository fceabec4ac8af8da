"""The settings of skills."""

from pathlib import Path

from pydantic_settings import BaseSettings


class SkillSettings(BaseSettings):
    """The folder of the operator's skills."""

    onevalet_skills: Path | None = None
