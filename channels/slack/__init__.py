"""Slack's events, presses, forms and commands, by webhook or Socket Mode.

`interactions` and `modals` are presses and forms, `sockets` is Socket Mode.
"""
