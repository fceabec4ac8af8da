"""The contract on abilities, for import-linter: one imports another only if its declaration says that it needs it."""

from collections.abc import Iterator

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output

from onevalet.ability_registry import PACKAGE, declared_abilities


class NeedsContract(Contract):
    """Read the declarations, and compare them with the imports between the folders of abilities."""

    type_name = "needs"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Return the imports that no declaration names."""
        found = sorted(_not_declared(graph))
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print them."""
        for line in check.metadata["found"]:
            output.print_error(line)


def _not_declared(graph: ImportGraph) -> Iterator[str]:
    needs = {ability.name: ability.needs for ability in declared_abilities()}
    for importer in graph.find_descendants(PACKAGE):
        own = importer.split(".")[1]
        for imported in graph.find_modules_directly_imported_by(importer):
            parts = imported.split(".")
            if parts[0] == PACKAGE and parts[1:2] not in ([], [own]) and parts[1] not in needs.get(own, ()):
                yield f"{importer} imports {imported}, and {own} does not need {parts[1]}"
