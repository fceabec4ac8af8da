"""Models by litellm's names: calls over connections of our own or litellm's, and what becomes of markup in answers."""
