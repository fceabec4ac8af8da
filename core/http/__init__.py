"""The guarded HTTP client: no private address, no redirect, no endless body.

`peer` limits the answers of servers that others run, and leaves a server alone for a while if it exceeds its limit.
"""
