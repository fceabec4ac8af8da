"""The way in: a folder for each provider, which imports the core and its provider's folder only.

Beside them are shared parts: polls under a lease, sweeps, and the fetching of a provider's files.
"""
