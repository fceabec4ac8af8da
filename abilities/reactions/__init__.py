"""Reactions: kept as feedback on answers, and given in place of an answer to a mere thanks."""
