"""typeagent's adapters of models, replaced by functions that refuse.

typeagent imports its adapters wherever a model could be created by default. Its models are always injected here, so
none is. Kept, because the adapters import pydantic-ai and all of openai: half a second of CPU and 20 MB of each worker.
"""

import sys
from types import ModuleType
from typing import Any, NoReturn

ADAPTERS = "typeagent.aitools.model_adapters"
MAKERS = ("create_chat_model", "create_embedding_model")


def replace_adapters() -> None:
    """Replace typeagent's adapters, unless they are imported already."""
    if ADAPTERS not in sys.modules:
        module = ModuleType(ADAPTERS, __doc__)
        module.__dict__.update(dict.fromkeys(MAKERS, _refuse))
        sys.modules[ADAPTERS] = module


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("typeagent has no models of its own here")
