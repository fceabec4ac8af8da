"""Lengths of texts, as Telegram counts them."""


def utf16_length(text: str) -> int:
    """Count UTF-16 units, in which entities have their offsets: https://core.telegram.org/api/entities."""
    return len(text) + sum(letter > "\uffff" for letter in text)


class PlainText:
    """The plain text that a parser has made so far: UTF-8 bytes, and how many UTF-16 units they are."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.units = 0

    def add(self, byte: int) -> None:
        """Append a byte of UTF-8."""
        self.data.append(byte)
        if byte & 0xC0 != 0x80:
            self.units += 2 if byte >= 0xF0 else 1

    def add_character(self, code: int) -> None:
        for byte in chr(code).encode():
            self.add(byte)

    def since(self, start: int) -> str:
        """Return the text from a byte position on."""
        return self.data[start:].decode()

    def __str__(self) -> str:
        return self.data.decode()
