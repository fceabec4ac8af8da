"""UTF-16 units, in which providers count the length of a text; pure."""


def units(text: str) -> int:
    """Count the UTF-16 units of a text; never fewer than its characters."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def first_units(text: str, limit: int) -> str:
    """Return as much of the beginning as fits `limit` units, cut between code points."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * limit].decode("utf-16-le", "ignore")
