"""The console: the pages under `/console`, which show a person what was done for them.

`door` loads them with the first request, `access` finds the viewer, `routes` answers, `live` tells open pages of
changes.
"""
