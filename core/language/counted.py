"""Numbers with their nouns for operators, whose words are English. Sentences for people use `ngettext`."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
