"""The settings of memory: its level, and the embedding."""

from collections.abc import Mapping
from typing import Literal

from pydantic_settings import BaseSettings

from onevalet.ability import OwnSettings


class MemorySettings(BaseSettings):
    """The level of memory, and its embedding model.

    `on`: a model reads people's statements, for memories and profile; rules without a model. `rules`: no model
    reads, so there are no inferred facts. `off`: only history is kept.
    """

    onevalet_memory: Literal["on", "rules", "off"] = "on"
    onevalet_embedding_model: str = ""


def _embedders(settings: MemorySettings) -> Mapping[str, str]:
    named = settings.onevalet_embedding_model
    return {"ONEVALET_EMBEDDING_MODEL": named} if named and settings.onevalet_memory != "off" else {}


MEMORY = OwnSettings(MemorySettings, embedders=_embedders)
