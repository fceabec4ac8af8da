"""What the assistant remembers, recalls and forgets.

`momex` is its door, `forgetting` forgets.
"""
