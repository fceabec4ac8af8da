"""What stands in the units of deploy/systemd."""

from pathlib import Path

from tests.shipping.harness import ROOT

UNITS = ROOT / "deploy" / "systemd"
DROP_IN = "onevalet-.service.d/onevalet.conf"


def read_unit(name: str) -> dict[str, list[str]]:
    """Return what a unit says: the values of each key, in their order. Sections do not matter: no key stands in two."""
    said: dict[str, list[str]] = {}
    for line in (UNITS / name).read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            said.setdefault(key, []).append(value)
    return said


def unit_files() -> list[Path]:
    """Return the unit files, without the drop-in and what is none."""
    return sorted(path for path in UNITS.iterdir() if path.suffix in {".service", ".target", ".timer"})
