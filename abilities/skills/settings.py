"""The settings of skills."""

from pathlib import Path

from pydantic_settings import BaseSettings


class SkillSettings(BaseSettings):
    """Where the operator's skills lie."""

    onevalet_skills: Path | None = None
