"""The country in which a person's numbers are read, from their own numbers, timezone or language."""

from collections.abc import Sequence
from functools import cache
from importlib import resources


def region_of(numbers: Sequence[str], timezone: str, language: str) -> str | None:
    """Return the country of the first number, else of the timezone, else of the language; None for none."""
    import phonenumbers  # its tables are large

    for number in numbers:
        try:
            region = phonenumbers.region_code_for_number(phonenumbers.parse(number))
        except phonenumbers.NumberParseException:
            continue
        if region:
            return region
    by_language = language.rpartition("-")[2] if "-" in language else ""
    return _countries().get(timezone) or (by_language.upper() if len(by_language) == 2 else None)


@cache
def _countries() -> dict[str, str]:
    """Return the country of each timezone that lies in a country."""
    table = resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text("utf-8")
    rows = [line.split("\t") for line in table.splitlines() if line and not line.startswith("#")]
    return {row[2]: row[0] for row in rows}
