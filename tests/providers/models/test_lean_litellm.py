"""litellm as far as direct calls need it: what stays unloaded, and that nothing is missing once the rest is loaded."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.providers.models.direct.test_both_paths import MODELS

_PLANS = """
import os, sys
from providers.models.chat_format import format_tool
from providers.models.direct.plans import FAMILIES, Plans
from core.llm.types import ToolSpec
tool = format_tool(ToolSpec("add", "Add.", {"type": "object", "properties": {"a": {"type": "integer"}}}))
for model, base, key in __import__("json").loads(sys.argv[1]):
    os.environ |= {base: "http://127.0.0.1:9/v1", key: "sk-test"}
    plan = Plans().plan({"model": model, "messages": [], "tools": [tool], "max_tokens": 9}, stream=True)
    assert plan, model
    plan.family.request(plan, [{"role": "user", "content": "Hello"}])
heavy = ("litellm.main", "litellm.router", "litellm.images.main", "litellm.responses.main")
print([name for name in heavy if name in sys.modules])
"""
_NAMES = """
import json, os, sys
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
{load}
import litellm
def told(value):
    plain = isinstance(value, (str, int, float, bool, type(None)))
    return [type(value).__name__, getattr(value, "__qualname__", ""), repr(value) if plain else ""]
names = {{name: told(value) for name, value in vars(litellm).items() if not name.startswith("_")}}
json.dump(names, sys.stdout)
"""
_COMPLETED = "from providers.models import lean_litellm; lean_litellm.import_lean(); lean_litellm.complete()"


@pytest.mark.whole("it loads litellm in processes of its own")
def test_a_direct_call_of_any_family_is_made_with_a_part_of_litellm() -> None:
    assert _run(_PLANS, json.dumps(list(MODELS.values()))) == "[]"


@pytest.mark.slow
def test_litellm_is_whole_once_what_was_put_off_is_imported(tmp_path: Path) -> None:
    lean, ordinary = (_names(load) for load in (_COMPLETED, ""))
    different = {name for name in lean.keys() | ordinary.keys() if lean.get(name) != ordinary.get(name)}
    assert different <= {"Callable"}, "one of two names for the same type"
    assert len(lean) > 1000


def _names(load: str) -> dict[str, Any]:
    names: dict[str, Any] = json.loads(_run(_NAMES.format(load=load)))
    return names


def _run(script: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()
