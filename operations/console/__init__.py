"""The console: the pages under `/console`, which show people their turns, tasks and data.

`door` loads them with the first request, `access` finds the viewer, `routes` answers, `live` reports changes to open
pages.
"""
