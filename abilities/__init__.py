"""What the assistant can do, a folder for each ability: its `ability.py` declares all that it brings."""
