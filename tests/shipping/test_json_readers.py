"""JSON that others wrote is read by `read_json`, or by whoever expects that it nests too deeply for Python."""

import ast
import re

from tests.shipping.harness import PRODUCT, python_files
from tests.shipping.limits import nodes_of

WORKBENCH = ("workbench/", "onevalet/testing/")
"""Nobody but a developer's own machine writes to these."""
OWN = {
    "abilities/accounts/connecting.py": "sealed by us",
    "core/approvals/seal.py": "sealed by us",
    "onevalet/servers/home.py": "written by whoever holds the folder",
    "operations/backups/sealed_keys.py": "sealed by us",
    "core/children/child_job.py": "a child's standard input is ours",
    "core/clock.py": "the test clock's file",
    "core/consents/types.py": "sealed by us",
    "core/credentials/store.py": "sealed by us",
    "core/journal/prompts.py": "packed by us",
    "providers/models/litellm_path.py": "`provider_errors` makes a `ModelError` of it",
    "abilities/mcp/over_http.py": "a request of ours",
    "jobs/delivery/receipt_notes.py": "a note of ours",
    "core/queue/payloads.py": "a job of ours",
    "abilities/tasks/runs/firing.py": "a trigger of ours",
    "abilities/events/store.py": "an id that our wakeup carries",
}
_READS = {"loads", "raw_decode", "json"}
_WORDS = re.compile(rf"\.({'|'.join(_READS)})\(")
"""One of these is in every source that has such a call: others are not even parsed."""


def bare_readers(source: str) -> list[str]:
    """Return the calls that read JSON and do not expect that it nests too deeply."""
    if not _WORDS.search(source):
        return []
    expected = {
        id(node)
        for block in nodes_of(source)
        if isinstance(block, ast.Try) and any("RecursionError" in _caught(one) for one in block.handlers)
        for statement in block.body
        for node in ast.walk(statement)
    }
    return [ast.unparse(node) for node in nodes_of(source) if _reads(node) and id(node) not in expected]


def _caught(handler: ast.ExceptHandler) -> str:
    return ast.unparse(handler.type) if handler.type else ""


def _reads(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _READS:
        return False
    return node.func.attr != "loads" or ast.unparse(node.func.value).startswith("json")


def test_json_of_others_cannot_nest_its_reader_away() -> None:
    files = {path: source for path, source in python_files(*PRODUCT).items() if not path.startswith(WORKBENCH)}
    found = {path: calls for path, source in files.items() if (calls := bare_readers(source))}
    assert {path: calls for path, calls in found.items() if path not in OWN} == {}
    assert OWN.keys() - found.keys() == set(), "these read no JSON any more"


def test_a_planted_reader_is_found() -> None:
    planted = "try:\n    a = json.loads(answer)\nexcept ValueError:\n    a = None\n"
    assert bare_readers(planted) == ["json.loads(answer)"]
    assert bare_readers("a = message.json()") == ["message.json()"]
    assert bare_readers(planted.replace("ValueError", "(ValueError, RecursionError)")) == []
    assert bare_readers("a = read_json(answer)") == []
