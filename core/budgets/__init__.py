"""The cost of calls: reserved before, settled after."""
