"""The simulator's page and the console, in a real browser.

`bin/uv run -m tests.page.picture` and `tests.page.killed_picture` take the README's pictures, and
`tests.page.console_pictures` those of the console. `tests.page.newcomer` times the way from a clone to the end of the
guide, `tests.page.files` sends each kind of file.
"""
