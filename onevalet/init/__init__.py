"""`init`: asks, tries each answer at once, and writes `.env`.

`dialogue` asks, `draft` holds what is proved, `doorway` listens for the providers.
"""
