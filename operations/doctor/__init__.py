"""The checks of `doctor`, a file for each area.

`every` lists the probes, `examine` runs them side by side.
"""
