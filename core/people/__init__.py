"""Who may write and who is who: access, pairing, linking, tiers, preferences, profile."""
