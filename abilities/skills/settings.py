"""The settings of skills."""

from pathlib import Path

from pydantic_settings import BaseSettings

from onevalet.ability import OwnSettings


class SkillSettings(BaseSettings):
    """The folder of the operator's skills."""

    onevalet_skills: Path | None = None


SKILLS = OwnSettings(SkillSettings)
