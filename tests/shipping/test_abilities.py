"""Abilities have a boundary: nobody imports one, and one imports no more than its declaration says."""

import shutil
from pathlib import Path

import pytest

from onevalet.ability_registry import all_abilities
from tests.shipping.contracts import copy_product
from tests.shipping.harness import read
from tests.shipping.test_layers import lint

CONTRACTS = (
    "nobody imports an ability: the registry finds it by its folder",
    "an ability imports core, public names, and what its commands, probes and settings stand on",
    "an ability imports another only if its declaration needs it",
)
PLANTED = {
    "core/tools/planted.py": "import abilities.first.work\n",
    "channels/planted.py": "def later():\n    from abilities.first import work\n",
    "onevalet/wiring/planted.py": "if TYPE_CHECKING:\n    import abilities.first.work\n",
    "abilities/first/upward.py": "import onevalet.wiring.web\n",
    "abilities/first/sideways.py": "import jobs.turns.runner\n",
    "abilities/second/unnamed.py": "import abilities.first.work\n",
}
"""An import against each contract, in the file that has it."""
ALLOWED = {
    "abilities/third/named.py": "import abilities.first.work\nimport core.errors\nimport onevalet.cli.session\n",
}
_DECLARED = "from onevalet.ability import Ability\n\nABILITY = Ability(name={name!r}, needs={needs!r})\n"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the product with three small abilities more, and of our contracts those on abilities."""
    folder = tmp_path_factory.mktemp("abilities")
    sources: dict[str, str] = {}
    for name, needs in {"first": (), "second": (), "third": ("first",)}.items():
        sources |= {
            f"abilities/{name}/{file}.py": text
            for file, text in {
                "__init__": "",
                "work": "",
                "ability": _DECLARED.format(name=name, needs=needs),
            }.items()
        }
    copy_product(folder, CONTRACTS, sources | ALLOWED)
    return folder


def test_a_copy_keeps_the_boundary_of_abilities(copied: Path) -> None:
    done = lint(copied)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" KEPT") == len(CONTRACTS)


def test_each_planted_import_across_the_boundary_is_found(copied: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(copied, tmp_path / "planted")
    for path, source in PLANTED.items():
        (folder / path).write_text(source)
    done = lint(folder)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count(" BROKEN") == len(CONTRACTS)
    for path in PLANTED:
        assert path.removesuffix(".py").replace("/", ".") in done.stdout
    assert "abilities.third" not in done.stdout
    assert "abilities.second.unnamed imports abilities.first.work, and second does not need first" in done.stdout


def test_every_ability_says_what_it_is_in_one_line() -> None:
    lines = {ability.name: read(f"abilities/{ability.name}/ability.py").splitlines()[0] for ability in all_abilities()}
    assert {name for name, line in lines.items() if not line.startswith('"""') or len(line) < 30} == set()
    assert lines
