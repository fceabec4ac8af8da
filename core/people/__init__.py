"""People and their identities: access, pairing, linking, tiers, preferences, profile."""
