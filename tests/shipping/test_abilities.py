"""Abilities have a boundary: nobody imports one, and one imports no more than its declaration says."""

import shutil
import tomllib
from pathlib import Path

import pytest

from onevalet.ability_registry import all_abilities
from tests.shipping.harness import PRODUCT, python_files, read
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
    "abilities/first/sideways.py": "import jobs.turns\n",
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
    sources = python_files(*PRODUCT) | {
        "tests/__init__.py": "",
        "tests/shipping/__init__.py": "",
        "tests/shipping/needs.py": read("tests/shipping/needs.py"),
    }
    for name, needs in {"first": (), "second": (), "third": ("first",)}.items():
        sources |= {
            f"abilities/{name}/{file}.py": text
            for file, text in {
                "__init__": "",
                "work": "",
                "ability": _DECLARED.format(name=name, needs=needs),
            }.items()
        }
    for path, source in (sources | ALLOWED).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(source, encoding="utf-8")
    told = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]
    chosen = [contract for contract in told["contracts"] if contract["name"] in CONTRACTS]
    assert len(chosen) == len(CONTRACTS)
    lines = ["[importlinter]", *_written(told, "root_packages", "contract_types")]
    for number, contract in enumerate(chosen):
        lines += [f"[importlinter:contract:{number}]", *_written(contract, *contract)]
    (folder / ".importlinter").write_text("\n".join(lines))
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


def _written(values: dict[str, object], *names: str) -> list[str]:
    lines = []
    for name in names:
        value = values[name]
        lines += [f"{name} =", *(f"    {item}" for item in value)] if isinstance(value, list) else [f"{name} = {value}"]
    return lines
