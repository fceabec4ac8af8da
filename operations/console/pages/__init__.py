"""The pages that have a file of their own.

`base` has what they stand on, `every` lists them.
"""
