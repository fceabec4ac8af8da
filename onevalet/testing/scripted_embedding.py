"""The scripted model's embeddings: always the same for the same words."""

import hashlib
import math
import re


def embed(words: str, dimensions: int) -> list[float]:
    """Embed a text so that texts sharing words are near: a unit vector, always the same."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", words.lower()) or [""]:
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[:4]) % dimensions] += 1.0 if digest[4] & 1 else -1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
