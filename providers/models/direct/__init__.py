"""Calls over our own connections, with a file for each wire format."""
