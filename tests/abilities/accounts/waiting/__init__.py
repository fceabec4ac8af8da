"""Calls and tasks that wait for an account, across rooms."""
