"""The pages that have a file of their own.

`base` has their shared parts, `every` lists them.
"""
