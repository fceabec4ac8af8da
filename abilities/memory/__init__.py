"""The assistant's memory: remembering, recalling and forgetting.

`momex` is its door, `forgetting` forgets.
"""
