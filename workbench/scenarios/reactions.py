"""The reactions that a scenario's person can give, and the providers' names of them."""

NAMES = {
    "👍": {"slack": "+1", "twilio": "like"},
    "👎": {"slack": "-1", "twilio": "dislike"},
    "❤": {"slack": "heart", "twilio": "love"},
}
"""By emoji; Telegram takes the emoji itself."""


def emoji_of(provider: str, name: object) -> str:
    """Return the emoji of a provider's name; empty if a scenario has none for it."""
    return next((emoji for emoji, names in NAMES.items() if names.get(provider, emoji) == name), "")
