"""Models by litellm's names: calls over our own connections or litellm's, and the markup in answers."""
