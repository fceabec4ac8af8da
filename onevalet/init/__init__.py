"""`init`: asks, tries each answer at once, and writes `.env`.

`dialogue` asks, `draft` holds the proved answers, `doorway` listens for the providers.
"""
