"""The assistant's abilities, a folder for each: its `ability.py` declares all its parts."""
