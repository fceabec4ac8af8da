"""The pages on which people connect their accounts: `pages` and `fields` say, `routes` answers."""
