"""Operations and the workbench stand beside the product: who may import them, and what they may import."""

import shutil
from pathlib import Path

import pytest

from tests.shipping.contracts import copy_product
from tests.shipping.test_layers import lint

OPERATIONS = "operations stand on core and the web server, and are wired by onevalet"
WORKBENCH = "what an installation runs imports nothing of the workbench, nor what only dev has"
SIMULATOR = "the simulator imports none of the product"
CORE = "core imports none of the others"
WAYS = "channels, notify and providers import core only, and the first two providers"
LAYERS = "onevalet wires operations and jobs; these above channels and notify; these above providers; core below all"
CONTRACTS = (OPERATIONS, WORKBENCH, SIMULATOR, CORE, WAYS, LAYERS)
PLANTED = {
    "operations/console/planted.py": "import onevalet.wiring.web\n",
    "operations/tenants/planted.py": "def later():\n    from channels.slack import parse\n",
    "operations/backups/planted.py": "import workbench.demo.model\n",
    "onevalet/wiring/planted.py": "def later():\n    from workbench.dev.run import run_dev\n",
    "workbench/simulator/planted.py": "import core.errors\n",
    "core/tools/planted.py": "import operations.tenants.export\n",
    "channels/http/planted.py": "import operations.metrics.endpoint\n",
    "jobs/planted.py": "if TYPE_CHECKING:\n    from operations.console.door import ConsoleDoor\n",
}
"""Imports against the contracts, in the files that have them."""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the product, and of our contracts those on operations and the workbench."""
    folder = tmp_path_factory.mktemp("operations")
    copy_product(folder, CONTRACTS, {})
    return folder


def test_a_copy_keeps_operations_and_the_workbench_apart(copied: Path) -> None:
    done = lint(copied)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" KEPT") == len(CONTRACTS)


def test_each_planted_import_of_operations_or_the_workbench_is_found(copied: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(copied, tmp_path / "planted")
    for path, source in PLANTED.items():
        (folder / path).write_text(source)
    done = lint(folder)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count(" BROKEN") == len(CONTRACTS)
    for path in PLANTED:
        assert path.removesuffix(".py").replace("/", ".") in done.stdout
