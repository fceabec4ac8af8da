"""The pages on which people connect their accounts.

`html` escapes, `pages` and `fields` say, `routes` answers.
"""
