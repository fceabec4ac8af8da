"""The console's pages of abilities: a loop over the declarations, with the first request to the console."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onevalet.ability_registry import all_abilities, folder_of
from onevalet.foundations import ServiceFoundation
from operations.console.pages.base import MakePages
from operations.console.rendering import Renderer


@dataclass(frozen=True, slots=True)
class AbilityPages:
    """The pages' factories, their entries in the menu, and the folders of their templates by the abilities' names."""

    makes: Sequence[MakePages]
    front: Sequence[tuple[str, str]]
    menu: Sequence[tuple[str, str]]
    templates: dict[str, Path]
    said: Mapping[str, str]
    """Sentences of a person's page after a redirect from these pages, by the word in the address."""

    def renderer(self) -> Renderer:
        """Return the renderer of our pages and theirs."""
        return Renderer(self.front, self.menu, self.templates)


def load_pages(foundation: ServiceFoundation) -> AbilityPages:
    """Return the pages of all abilities."""
    loaded = [(ability, ability.pages(foundation)) for ability in all_abilities() if ability.pages is not None]
    return AbilityPages(
        [make for _, pages in loaded for make in pages.makes],
        [entry for _, pages in loaded for entry in pages.front],
        [entry for _, pages in loaded for entry in pages.menu],
        {ability.name: folder_of(ability) / "templates" for ability, _ in loaded},
        {word: sentence for _, pages in loaded for word, sentence in pages.said.items()},
    )
