"""Lengths of texts, as Telegram counts them."""


def utf16_length(text: str) -> int:
    """Count UTF-16 units, in which entities have their offsets: https://core.telegram.org/api/entities."""
    return len(text) + sum(letter > "\uffff" for letter in text)
