"""Text that must never be stored: passwords, one-time codes, keys, card numbers. Checked before every write."""

import re

_WORDS = (
    r"(?:password|passwort|passphrase|passcode|pass\s?code|pwd|contraseña|mot de passe|senha|pin(?:\s?code)?|cvv|cvc)"
)
_CODES = (
    r"(?:one[- ]time|verification|security|confirmation|authentication|auth|login|log-in|sign-in|2fa|otp|tan|access"
    r"|reset|activation|sicherheits|bestätigungs|código|codigo)"
)
_GIVEN = r"\b[A-Z]{0,3}-?\d[\d -]{2,9}\d\b"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # A secret with its value: "my password is x", "PIN: 1234". To mention a password is no secret.
        rf"\b{_WORDS}\b[^.!?\n]{{0,40}}?(?:\bis\b|\bare\b|\bist\b|\bes\b|\best\b|:|=|\bto\b)\s*\S+",
        rf"\b{_WORDS}\b\s+[\"'“`]?\S*\d\S*",
        rf"\b{_CODES}[\w-]*(?:\s+(?:code|number|token|pin|código|is))*\b[^.!?\n]{{0,40}}?{_GIVEN}",
        rf"\b(?:code|otp|tan|token)\b\s*(?:is|:|=|ist|es)\s*{_GIVEN}",
        r"\b\d{4,8}\b\s+is\s+your\b",
        r"\b(?:api|secret|private|access|seed|recovery)[ _-]?(?:key|token|phrase|secret)s?\b[^.!?\n]{0,30}?(?:is|[:=])"
        r"\s*\S+",
        r"\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abprs]|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{14,}",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
        r"\b\d{3}-\d{2}-\d{4}\b",
    )
)
_BARE_CODE = re.compile(r"\s*(?:[A-Z]{1,3}-)?\d[\d -]{2,8}\d\s*[.!]?\s*", re.IGNORECASE)
_CARD = re.compile(r"(?:\d[ -]?){12,18}\d")
_TOKEN = re.compile(r"[A-Za-z0-9+/_=-]{24,}")


def is_secret(text: str) -> bool:
    if _BARE_CODE.fullmatch(text) or any(pattern.search(text) for pattern in _PATTERNS):
        return True
    return any(_is_card(match[0]) for match in _CARD.finditer(text)) or any(
        _is_random(match[0]) for match in _TOKEN.finditer(text)
    )


def _is_card(text: str) -> bool:
    """Return whether a number has the check digit of card numbers (Luhn)."""
    digits = [int(letter) for letter in text if letter.isdigit()]
    doubled = [sum(divmod(digit * 2, 10)) for digit in digits[-2::-2]]
    return len(digits) >= 13 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_random(text: str) -> bool:
    """Return whether a token looks like a key and not like a long word or a path: mixed case and digits."""
    kinds = (any(c.isupper() for c in text), any(c.islower() for c in text), sum(c.isdigit() for c in text) >= 3)
    return all(kinds) and text.count("/") < 2
