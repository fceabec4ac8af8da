"""Fails a test that leaves this machine."""
