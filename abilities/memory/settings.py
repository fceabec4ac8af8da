"""The settings of memory: recall, extraction, embedding, and the time of reading."""

from collections.abc import Mapping
from typing import Literal

from pydantic_settings import BaseSettings

from onevalet.ability import OwnSettings


class MemorySettings(BaseSettings):
    """Switches and limits of memory. `onevalet_profile`: the reader of facts about people in their words."""

    onevalet_memory: Literal["on", "off"] = "on"
    onevalet_extraction: Literal["auto", "model", "rules"] = "auto"
    onevalet_embedding_model: str = ""
    onevalet_profile: Literal["off", "model"] = "model"


def _embedders(settings: MemorySettings) -> Mapping[str, str]:
    named = settings.onevalet_embedding_model
    return {"ONEVALET_EMBEDDING_MODEL": named} if named and settings.onevalet_memory == "on" else {}


MEMORY = OwnSettings(MemorySettings, embedders=_embedders)
