"""Some of our contracts on imports, over a copy of the product in which a test plants a breach."""

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from tests.shipping.harness import SHIPPED, python_files, read


def copy_product(folder: Path, contracts: Collection[str], more: Mapping[str, str]) -> None:
    """Write the product's sources and more into a folder, and of our contracts those named."""
    own_types = "tests/shipping/needs.py"
    needed = {"tests/__init__.py": "", "tests/shipping/__init__.py": "", own_types: read(own_types)}
    for path, source in (python_files(*SHIPPED, "workbench") | needed | dict(more)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(source, encoding="utf-8")
    told = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]
    chosen = [contract for contract in told["contracts"] if contract["name"] in contracts]
    assert len(chosen) == len(contracts)
    lines = ["[importlinter]", "include_external_packages = True", *_written(told, "root_packages", "contract_types")]
    for number, contract in enumerate(chosen):
        lines += [f"[importlinter:contract:{number}]", *_written(contract, *contract)]
    (folder / ".importlinter").write_text("\n".join(lines))


def _written(values: Mapping[str, object], *names: str) -> list[str]:
    lines = []
    for name in names:
        value = values[name]
        lines += [f"{name} =", *(f"    {item}" for item in value)] if isinstance(value, list) else [f"{name} = {value}"]
    return lines
