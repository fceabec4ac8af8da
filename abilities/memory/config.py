"""The configuration of memory."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from core.db.addresses import for_primary
from core.errors import ConfigError


class RecallMode(StrEnum):
    """How memories reach the model."""

    STATIC = "static"
    """In the prompt."""
    TOOL = "tool"
    """By a tool that the model calls."""
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class MomexConfig:
    """The settings of memory. `embedding_model` is a litellm name; empty: the embedded sentence encoder.

    `patience` bounds a turn's recall in seconds, `query_patience` that of a program's `query`, for which nobody waits
    in a chat. `token_budget` limits the memories in a prompt. `index_memories` is the number of memories in all
    structured indexes of a worker together; `structured` switches that retriever on.
    """

    embedding_model: str = ""
    recall: RecallMode = RecallMode.BOTH
    by_rules: bool = False
    """No model reads added statements, even if there is one."""
    structured: bool = True
    patience: float = 0.3
    query_patience: float = 10.0
    token_budget: int = 600
    max_recalled: int = 8
    index_memories: int = 50_000
    index_people: int = 200
    index_after: float = 10.0
    """Seconds before the first index is built if typeagent is not loaded, which takes a second of CPU."""
    max_messages: int = 200
    session_life: timedelta = timedelta(days=7)
    database_url: str = field(default="", repr=False)
    """Used if a Momex is given no database."""

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> "MomexConfig":
        """Read `ONEVALET_EMBEDDING_MODEL`, `ONEVALET_MEMORY` and `DATABASE_URL`.

        Raises `ConfigError`.
        """
        values = os.environ if environ is None else environ
        try:
            return cls(
                embedding_model=values.get("ONEVALET_EMBEDDING_MODEL", ""),
                by_rules=values.get("ONEVALET_MEMORY") == "rules",
                database_url=for_primary(values.get("DATABASE_URL", "")),
            )
        except ValueError as error:
            raise ConfigError(f"Memory is set up wrong: {error}.") from error
