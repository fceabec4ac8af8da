"""The guarded HTTP client: no private address, no redirect, no endless body.

`peer` counts what a server of others may say, and leaves alone the one that says more.
"""
