"""The page of `onevalet --help`: the commands under headings, by purpose.

Plain text: typer's frames need `rich`, which takes longer to load than the help takes to read.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from typer.core import TyperGroup

from onevalet.ability_registry import all_abilities

_OWN: dict[str, tuple[str, ...]] = {
    "Set up": ("dev", "init", "doctor", "channels", "pair", "new", "simulate"),
    "Run": ("web", "worker", "migrate", "backup", "restore", "keys"),
    "People": ("people", "chat", "credentials", "notify", "tenants"),
    "Consent": ("approvals", "consents", "agents", "mcp"),
    "Look into": ("console", "trace", "replay", "deliveries"),
}
"""The commands of every installation by purpose, in the order of the help."""

_WHOLE = 1000
"""More letters than a command's first sentence has."""


def headings() -> Mapping[str, tuple[str, ...]]:
    """Return every command by purpose; the abilities' commands come last."""
    found = dict(_OWN)
    for commands in (commands for ability in all_abilities() for commands in ability.commands):
        names = found.get(commands.heading, ())
        found[commands.heading] = names if commands.name in names else (*names, commands.name)
    return found


class WholeSentences(TyperGroup):
    """A group of commands, in whose help the first sentence of each is wrapped, never cut."""

    @property
    def sections(self) -> Mapping[str, Iterable[str]]:
        """Return the names of the commands by heading."""
        return {"Commands": self.commands}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each heading."""
        for heading, names in self.sections.items():
            commands = [(name, self.commands[name]) for name in names]
            with formatter.section(heading):
                formatter.write_dl([(name, command.get_short_help_str(_WHOLE)) for name, command in commands])


class CommandsByHeading(WholeSentences):
    """The whole command line, with a section for each heading."""

    @property
    def sections(self) -> Mapping[str, Iterable[str]]:
        """Return the names of the commands by heading."""
        return headings()
